// Package pipelines has the verbs that measure and use a trained tree, such as Predict and Evaluate. They join
// the jobs of transforms with the files of io, take configurations and return results. Flags and terminals belong to
// cmd. Package train trains trees.
package pipelines

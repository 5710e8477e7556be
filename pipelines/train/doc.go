// Package train trains trees, and chooses another tree of a training: it joins the jobs of transforms with the
// files of io. It takes configurations and returns results. Flags and terminals belong to cmd.
//
// # How a tree is trained
//
//	fit       row groups -> summaries -> cuts and values of each feature
//	coalesce  row groups -> codes -> objects, in blocks, by part of the split
//	grow      objects -> all trees of the grid: in one job where the objects fit the memory,
//	          else level by level, a job a level, and the small nodes in one job more
//	score     objects of the validation and test parts -> rows at each leaf
//	choose    prunings, folds and limits -> one tree, with its certificate
//	write     the run folder, _SUCCESS last
//
// The first four run Beam pipelines on the chosen engine. The driver process runs them one
// after the other and keeps trees and statistics, never rows. Each stage is a value, made of
// the one before: see run. The page docs/dev/architecture.md describes the whole house.
package train

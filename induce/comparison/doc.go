// Package comparison compares two trees, A and B: their predictions for the same rows, and their nodes.
//
// Counts counts rows by the predictions of both trees and their true class. Each row is scored once
// by each tree, so differences are those of the same rows. Nodes are matched by what leads to them:
// see Match.
package comparison

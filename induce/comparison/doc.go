// Package comparison compares two trees, A and B: their predictions for the same rows, and their nodes.
//
// Counts counts rows by the predictions of both trees and by their true class. Each row is scored
// once by each tree, so that all differences are between predictions for the same rows. Nodes are
// matched by the answers that lead to them: see Match.
package comparison

// Package selection chooses a tree among grown trees and their prunings.
//
// The trees are pruned, and the prunings compete on the validation rows and on folds of the
// training objects (see frontier and crossvalidate). Then leaf models and boosters on top of
// them may join the competition (see leafmodel). The chosen tree may get a certificate (see
// certify). If all objects are in memory, trees grown from a teacher may also compete.
package selection

// Package distill grows trees from what a teacher predicts (knowledge distillation; Breiman and
// Shang call such trees born again). The teacher is boosted trees, see package boost. Trees then grow
// from a transfer set (Hinton, Vinyals, Dean 2015) instead of the labels alone:
//
//   - the class weights of each training object are mixed with the class probabilities predicted by
//     trees that have not seen the object,
//   - synthetic objects around the training objects have the class weights that the teacher predicts
//     for them. Together they weigh as much as the training objects.
//
// A grown tree is then counted again on the training objects alone: its nodes get their weights,
// rows and costs, and a test with a single outcome among them is left out. Only the class shares in
// the leaves come from the teacher. So expected costs, bounds and certificates refer to the
// training rows.
package distill

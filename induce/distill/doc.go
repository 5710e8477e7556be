// Package distill grows trees from what a teacher knows (knowledge distillation; Breiman and
// Shang call such trees born again). The teacher is a random forest of the training objects,
// see package forest, or boosted trees, see package boost. Trees then grow from more than the labels, from a transfer set (Hinton,
// Vinyals, Dean 2015):
//
//   - the class weights of each training object are mixed with the class probabilities of the
//     trees that have not seen the object,
//   - made-up objects around the training objects have the class weights that the forest
//     gives them. Together they weigh as much as the training objects.
//
// A grown tree is then counted again on the training objects alone: its nodes have their
// weights, rows and costs, and a test with one outcome among them is left out. Only the
// shares of the classes in the leaves are the teacher's. So expected costs, bounds and
// certificates are those of the training rows.
package distill

// Package leafmodel fits models to the leaves of trees. The model of a leaf gives the class
// probabilities of a row from the numeric values that the row was asked for on its path. These
// values are already paid for, so a model costs nothing.
//
// # The model
//
// The scores of a row, one for two classes and one for each of more classes, are
//
//	z = intercept + sum over features f of g_f(x_f)
//
// The probabilities are the logistic function of z, or the softmax of the scores. Each g_f is
// linear in the functions of a basis: with u the rank of the value among the objects of a node,
// scaled to -1..1, the functions are u; u^2 - 1/3 if the node has at least 32 objects for each
// score; and max(u, 0) if it has at least 128. A missing value has its own function. In tree.json
// g_f is piecewise linear between values, and constant beyond the training values of the leaf.
//
// # The fit
//
// A model grows down the tree, as in logistic model trees (Landwehr, Hall and Frank, Machine
// Learning 59, 2005). The root only has an intercept. A node's fit starts from the model above, and
// adds to it: it is a ridge regression by damped quasi-Newton steps, on the features that were
// asked above the node. A node is fitted if it has at most a sixth of the objects of the last
// fitted node above, or if it is a leaf. Inner nodes are fitted to fewer objects than leaves. With
// Options.Broad the fit of a leaf with few objects starts from a fit of its path's features to the
// objects of a node above that has many, because its own objects say too little about the features
// that were asked last. So a model only depends on the path: trees that share a path share the fits
// along it.
//
// # The same bits
//
// Objects are in an order that only depends on their codes (see Sorted). A fit takes the first
// objects of its node in this order. Products are rounded before they are added, and exponentials
// and logarithms come from package portable.
package leafmodel

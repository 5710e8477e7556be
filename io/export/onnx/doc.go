// Package onnx writes a tree as an ONNX model, which onnxruntime and other programs run.
//
// Each input is the column of a feature: doubles or texts. Texts become codes, and codes and
// numbers become columns of numbers, so that each test asks whether a number is at least another
// number. A TreeEnsembleRegressor finds the number of a row's leaf. Its class, probabilities and
// cost are gathered from tables of doubles, so that no operator rounds them. A second ensemble
// locates rows between the knots of leaf models and in the trees of boosters; operators on doubles
// compute the remaining steps.
package onnx

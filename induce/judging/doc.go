// Package judging has how much the rows count on which a tree is judged.
//
// A row counts with its own weight. Predictions that follow priors or class weights refer to a population
// with other class frequencies than the rows have. Such rows also count with the ratio of the two frequencies of
// their class, so that log losses, accuracies and costs refer to the population. The area under the ROC curve
// of two classes does not depend on class frequencies. For more classes, areas are measured on the rows as they
// are.
package judging

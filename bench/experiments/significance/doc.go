// Package significance tests whether methods differ over data sets, as Demšar's "Statistical
// comparisons of classifiers over multiple data sets" (2006) recommends: Friedman's test, and the
// critical differences of mean ranks by Nemenyi and by Bonferroni and Dunn.
//
// Results have twelve significant digits: further ones depend on the processor.
//
// It is not meant for other programs.
package significance

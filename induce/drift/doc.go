// Package drift measures how far the values of a column have moved from one set of rows to another.
//
// Both sets are given as numbers of rows by bin. Measure compares them by the four usual formulas:
// the population stability index, the Kolmogorov-Smirnov statistic, the Jensen-Shannon distance and
// the chi-square test of homogeneity. Alarms reports which of many columns have drifted, at a given
// rate of false alarms.
package drift

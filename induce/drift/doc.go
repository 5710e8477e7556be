// Package drift measures how far the values of a column have moved from one set of rows to another.
//
// Both sets are given as numbers of rows by bin. Column.Measure compares them by the population stability
// index and the chi-square test of homogeneity. Bins are merged by the first set and the sizes of both; values that
// the first set has hardly or not seen are one bin, with their expected share; rows with the same key
// count as fewer independent rows. Alarms reports which of many columns have drifted, at a given
// rate of false alarms.
package drift

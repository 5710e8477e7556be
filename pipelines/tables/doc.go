// Package tables reads the CSV files of a data owner: the costs of tests (--costs), the costs
// of wrong predictions (--error_costs), and the weights and frequencies of classes
// (--class_weights, --priors). It is not meant for other programs.
package tables

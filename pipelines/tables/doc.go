// Package tables reads the CSV files by which a data owner says what tests and mistakes
// cost and what classes weigh: --costs, --class_weights, --priors and --error_costs. It is not
// meant for other programs.
package tables

// Package settings declares the settings of a training: which columns the rows have, how trees
// grow, and how one of them is chosen. Settings are typed: numbers are numbers, costs are maps, and
// enumerated values have types.
//
// Start from a function that returns settings with defaults, and change fields. The only field that
// must be set is Label.
//
//	s := settings.Default() // the best tree of a grid; or Accurate, Paper, Single
//	s.Label = "outcome"
//	s.Costs = map[string]float64{"scan": 200}
//	s.Select = frontier.Highest
//
// There are no special zero values: a Theta of 0 is 0. Faults checks all ranges and conflicts.
// Flags, config files and pipelines fill the same struct, so it contains no files: package
// pipelines/config adds these.
//
// Each field is named after a setting of `espalier train`, in Go's spelling: see FieldName. The
// values of enumerated types are constants of their packages, such as split.C45 for an Algorithm.
package settings

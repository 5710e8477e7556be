// Package settings declares the settings of a training: which columns the rows have, how trees
// grow, and how one of them is chosen. Settings are typed: numbers are numbers, costs are maps, and
// enumerated values have types.
//
// Default, Single and the presets return settings with defaults. There are no special zero values:
// a Theta of 0 is 0. Faults checks all ranges and conflicts. Flags, config files and pipelines fill
// the same struct, so it contains no files: package pipelines/config adds these.
//
// Each field is named after a setting of `espalier train`, in Go's spelling: see FieldName.
package settings

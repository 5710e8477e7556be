// Package settings has the settings of a training: which columns the rows have, how trees grow, and
// how one of them is chosen. Numbers are numbers, costs are maps, and what has names has a type.
//
// Default, Single and the presets return settings with defaults. The zero value of a field means what
// it says: a Theta of 0 is 0. Faults has all ranges and conflicts. Flags, config files and pipelines
// fill the same struct, so it knows no files: package pipelines/config has these next to it.
//
// A field has the name of a setting of `espalier train`, in the spelling of Go: see FieldName.
package settings

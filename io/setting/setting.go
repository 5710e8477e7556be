package setting

import (
	"fmt"
	"strings"
)

// Setting is the declaration of a setting.
type Setting struct {
	Name       string // name of the flag, of the key in config files and of the member in JSON
	Group      Group  // group under which the help lists the setting
	Help       string // what the setting does, with unit and special values; the default is appended
	Value      Value  // the field that is set
	Required   bool   // whether the empty value is a fault
	Changeable bool   // whether it may differ when a run is resumed, because the tree does not depend on it

	// Conceal returns a value without its secrets, each replaced by Concealed, for documents; nil: the value has none. The
	// value is encoded as JSON is: a string, or a list of strings.
	Conceal func(value any) any
}

// Concealed is written to documents in place of a secret.
const Concealed = "***"

// Faults checks the values of all settings. Each error names its flag.
func Faults(settings []Setting) []error {
	var missing []string
	var faults []error
	for _, s := range settings {
		if s.Required && s.Value.empty() {
			missing = append(missing, "--"+s.Name)
			continue
		}
		for _, err := range s.Value.faults() {
			if want, ok := strings.CutPrefix(err.Error(), `"": `); ok {
				err = fmt.Errorf("is missing: %s", want)
			}
			faults = append(faults, fmt.Errorf("--%s %w", s.Name, err))
		}
	}
	switch n := len(missing); n {
	case 0:
		return faults
	case 1:
		return append([]error{fmt.Errorf("%s is required", missing[0])}, faults...)
	default:
		return append([]error{fmt.Errorf("%s and %s are required", strings.Join(missing[:n-1], ", "), missing[n-1])},
			faults...)
	}
}

// Names lists the names of the settings.
func Names(settings []Setting) []string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = s.Name
	}
	return names
}

// In puts settings into a group.
func In(group Group, settings []Setting) []Setting {
	for i := range settings {
		settings[i].Group = group
	}
	return settings
}

package source

import (
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// UnknownColumn returns the usage error for a column that a flag names and no file has.
func UnknownColumn(flag, name string, columns []string) error {
	return usage.Errorf("--%s: no input file has a column %q%s", flag, name, setting.Hint(name, columns))
}

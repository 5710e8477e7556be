package source

import (
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// UnknownColumn is the error for a column named in a flag that no file has.
func UnknownColumn(flag, name string, columns []string) error {
	return usage.Errorf("--%s: no input file has a column %q%s", flag, name, setting.Hint(name, columns))
}

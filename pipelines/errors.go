package pipelines

import (
	"github.com/espalier-ml/espalier/io/usage"
)

// UsageError says that a command or its configuration cannot be carried out.
type UsageError = usage.Error

package metric

import (
	"encoding/json"

	"github.com/espalier-ml/espalier/induce/tree"
)

// UnmarshalJSON decodes metrics of any version.
func (m *Metrics) UnmarshalJSON(b []byte) error {
	type plain Metrics // without this method
	return json.Unmarshal(tree.Renamed(b), (*plain)(m))
}

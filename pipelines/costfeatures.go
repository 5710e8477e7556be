package pipelines

import (
	"slices"
)

// ofFeatures returns the costs without those of single values, of which a sample
// need not have each.
func (c *costs) ofFeatures() *costs {
	return &costs{lines: slices.DeleteFunc(slices.Clone(c.lines), func(l costLine) bool { return l.single }), url: c.url}
}

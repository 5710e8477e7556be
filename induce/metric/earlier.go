package metric

import "encoding/json"

// UnmarshalJSON decodes metrics of any version. In version 0.3 expected_cost was the cost of the tests at
// their own prices. In all versions expected_billed_cost is the billed cost.
func (m *Metrics) UnmarshalJSON(b []byte) error {
	type plain Metrics // without this method
	if err := json.Unmarshal(b, (*plain)(m)); err != nil {
		return err
	}
	Rename(&m.ExpectedCost, m.ExpectedBilledCost)
	m.Intervals.rename()
	for i := range m.Slices {
		s := &m.Slices[i]
		Rename(&s.ExpectedCost, s.ExpectedBilledCost)
		s.Intervals.rename()
	}
	return nil
}

func (i *Intervals) rename() {
	if i != nil {
		Rename(&i.ExpectedCost, i.ExpectedBilledCost)
	}
}

// Rename sets a figure to its value by an earlier name, if a document has that name.
func Rename[T any](figure **T, earlier *T) {
	if earlier != nil {
		*figure = earlier
	}
}

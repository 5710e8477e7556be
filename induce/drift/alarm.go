package drift

// Limits define when a column has drifted.
type Limits struct {
	// FalseAlarms is the greatest probability of an alarm for any of the columns if none has
	// drifted.
	FalseAlarms float64
	// PSI is the least population stability index of an alarm. With many rows even the least
	// movement is beyond chance, but does not matter.
	PSI float64
}

// Alarms reports for each of several columns whether it has drifted: its test rejects at the level
// FalseAlarms divided by the number of tested columns (Bonferroni's correction, so the columns need not
// be independent), and its PSI is at least the limit. Columns that are left out have no alarm.
func (l Limits) Alarms(columns []Measures) []bool {
	tested := 0
	for i := range columns {
		if columns[i].LeftOut == "" {
			tested++
		}
	}
	alarms := make([]bool, len(columns))
	for i := range columns {
		c := &columns[i]
		alarms[i] = c.LeftOut == "" && c.P <= l.FalseAlarms/float64(tested) && c.PSI >= l.PSI
	}
	return alarms
}

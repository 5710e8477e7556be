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

// Alarms reports for each of several columns whether it has drifted: its chi-square test rejects at
// the level FalseAlarms divided by the number of columns (Bonferroni's correction, so the columns
// need not be independent), and its PSI is at least the limit.
func (l Limits) Alarms(columns []Measures) []bool {
	alarms := make([]bool, len(columns))
	for i := range columns {
		alarms[i] = columns[i].P <= l.FalseAlarms/float64(len(columns)) && columns[i].PSI >= l.PSI
	}
	return alarms
}

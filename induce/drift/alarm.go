package drift

// Limits says when a column has drifted.
type Limits struct {
	// FalseAlarms is the greatest probability that any of the columns gives an alarm though none
	// has drifted.
	FalseAlarms float64
	// PSI is the least population stability index of an alarm. Of many rows the least movement is
	// more than chance, and still of no weight.
	PSI float64
}

// Alarms says for each of several columns whether it has drifted: its chi-square test says so at a
// level of FalseAlarms over the number of columns (Bonferroni's correction, so the columns need not
// be independent), and its PSI is at least the limit.
func (l Limits) Alarms(columns []Measures) []bool {
	alarms := make([]bool, len(columns))
	for i := range columns {
		alarms[i] = columns[i].P <= l.FalseAlarms/float64(len(columns)) && columns[i].PSI >= l.PSI
	}
	return alarms
}

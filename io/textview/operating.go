package textview

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// OperatingTable returns a table of the operating points of the class of interest, from high thresholds to low ones: the
// points of the sensitivities that people ask for. The point of the tree's own threshold is marked. what names the class,
// and the cost of the tests. The table is nil if no class is of interest, or if the rows define no points.
func OperatingTable(t *tree.Tree, m *metric.Metrics, part string) (table *Table, what string) {
	c, points := OperatingPoints(t, m)
	if points == nil {
		return nil, ""
	}
	return operatingTable(t, m, c, points, part, true)
}

func operatingTable(
	t *tree.Tree, m *metric.Metrics, c *metric.Class, points []metric.OperatingPoint, part string, brief bool,
) (table *Table, what string) {
	if brief { // without the last one, at which all rows are predicted
		points = metric.Outlined(points[:len(points)-1], .5, .8, .9, .95, .99)
	}
	own := -1
	if from := t.Label.DecidesFrom(slices.Index(t.Label.Classes, c.Class)); from > 0 {
		points, own = WithOwn(points, c, from)
	}
	table = NewTable(Column{Head: "threshold"}, Column{Head: "sensitivity"}, Column{Head: "specificity"}, Column{Head: "PPV"},
		Column{Head: "NPV", Rank: 1}, Column{Head: "found"}, Column{Head: "missed"}, Column{Head: "false alarms"}, Column{Left: true})
	for i := range points {
		p := &points[i]
		mark := ""
		if i == own {
			mark = "* decides"
		}
		table.Add(strconv.FormatFloat(p.Threshold, 'g', -1, 64), estimated(&p.Sensitivity), estimated(&p.Specificity), estimated(&p.PPV),
			estimated(&p.NPV), perThousand(p.Found), perThousand(p.Missed), perThousand(p.FalseAlarms), mark)
	}
	cost := ""
	if m.ExpectedCost != nil {
		cost = "; tests cost " + figureOf(*m.ExpectedCost) + " per row at each of them"
	}
	return table, fmt.Sprintf("operating points of %s on %s rows: predicted from this probability on, counts per 1,000 rows%s",
		name(c.Class), part, cost)
}

// OperatingPoints returns the class of interest with its operating points, from the highest threshold to 0; nil if no class is of
// interest, or if the rows define no points.
func OperatingPoints(t *tree.Tree, m *metric.Metrics) (*metric.Class, []metric.OperatingPoint) {
	at := interest(t, m)
	if at < 0 {
		return nil, nil
	}
	c := &m.PerClass[at]
	return c, c.OperatingPoints()
}

// Operating writes the table of OperatingTable below its title, if there is one.
func Operating(w io.Writer, t *tree.Tree, m *metric.Metrics, part string, width int) error {
	table, what := OperatingTable(t, m, part)
	if table == nil {
		return nil
	}
	return writeOperating(w, table, what, width)
}

// AllOperating writes a table of all operating points of a class below its title, or the reason why it is absent. The class is the class of
// interest if it is empty.
func AllOperating(w io.Writer, t *tree.Tree, m *metric.Metrics, class, part string, width int) error {
	at := slices.IndexFunc(m.PerClass, func(c metric.Class) bool { return c.Class == class })
	if class == "" {
		at = interest(t, m)
	}
	why := ""
	switch {
	case at < 0:
		why = "the tree names no class of interest: name one of its classes by --positive"
	case m.PerClass[at].OperatingPoints() == nil:
		rows := map[bool]string{true: "no row is", false: "all rows are"}[m.PerClass[at].Support == 0]
		why = fmt.Sprintf("%s of the class %s, so sensitivity and specificity are not both defined", rows, name(m.PerClass[at].Class))
	default:
		c := &m.PerClass[at]
		table, what := operatingTable(t, m, c, c.OperatingPoints(), part, false)
		return writeOperating(w, table, what, width)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", Wrapped("no thresholds are listed: "+why, width, "  "))
	return err
}

func writeOperating(w io.Writer, table *Table, what string, width int) error {
	if _, err := fmt.Fprintf(w, "\n%s\n", Wrapped(what, width, "  ")); err != nil {
		return err
	}
	return table.Write(w, width)
}

// decided describes in a sentence what the threshold of a tree does on the rows of metrics; empty without a threshold.
func decided(t *tree.Tree, m *metric.Metrics) string {
	at := interest(t, m)
	if at < 0 || !t.Label.Thresholded() {
		return ""
	}
	c := &m.PerClass[at]
	p := c.Decided(t.Label.Decision.Threshold)
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%s is predicted from %v on: sensitivity %s, specificity %s; 1,000 rows have %s found, %s missed, and %s false alarms.",
		name(c.Class), p.Threshold, estimated(&p.Sensitivity), estimated(&p.Specificity), perThousand(p.Found), perThousand(p.Missed),
		perThousand(p.FalseAlarms))
}

// interest returns the index of the class of interest: see Interested; -1 without such a class.
func interest(t *tree.Tree, m *metric.Metrics) int {
	shown, _ := Interested(t)
	d := shown.Label.Decision
	if d == nil {
		return -1
	}
	return slices.IndexFunc(m.PerClass, func(c metric.Class) bool { return c.Class == d.Positive })
}

// estimated writes a share with its interval in percent; "-" if it is not defined.
func estimated(e *metric.Estimate) string {
	switch {
	case math.IsNaN(e.Value):
		return "-"
	case math.IsNaN(e.Low):
		return fmt.Sprintf("%.1f %%", 100*e.Value)
	default:
		return fmt.Sprintf("%.1f %% (%.1f-%.1f)", 100*e.Value, 100*e.Low, 100*e.High)
	}
}

func perThousand(share float64) string { return fmt.Sprintf("%.1f", 1000*share) }

// WithOwn adds the point of the tree's own decisions, by the given threshold, which replaces a point with the same
// decisions, and returns its index; below 0 if the point is not defined.
func WithOwn(points []metric.OperatingPoint, c *metric.Class, threshold float64) ([]metric.OperatingPoint, int) {
	p := c.Decided(threshold)
	if p == nil {
		return points, -1
	}
	own := slices.IndexFunc(points, func(q metric.OperatingPoint) bool { return q.Threshold <= p.Threshold })
	if own < 0 {
		own = len(points)
	}
	for at := max(0, own-1); at <= own && at < len(points); at++ {
		if SameShares(points[at].Sensitivity.Value, points[at].Specificity.Value, p.Sensitivity.Value, p.Specificity.Value) {
			points[at] = *p
			return points, at
		}
	}
	return slices.Insert(points, own, *p), own
}

// SameShares reports whether two operating points, given by sensitivity and specificity, are equal but for rounding.
func SameShares(sensitivity, specificity, otherSensitivity, otherSpecificity float64) bool {
	return math.Abs(sensitivity-otherSensitivity)+math.Abs(specificity-otherSpecificity) < 1e-9
}

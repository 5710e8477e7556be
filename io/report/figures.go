package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/espalier-ml/espalier/induce/metric"
)

// Part is a part of the rows with its metrics.
type Part struct {
	Name    string
	Metrics *metric.Metrics
}

// Figures writes a table of the parts' metrics.
func Figures(w io.Writer, parts []Part) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	b := bufio.NewWriter(t)
	printf(b, "part\trows\tAUC\t95 %%\taccuracy\tbalanced\tlog loss\tBrier\tcost\ttests\t\n")
	for _, p := range parts {
		m := p.Metrics
		printf(b, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", p.Name, m.Rows, Figure(m.AUCOvRMacro), areaInterval(m), Figure(m.Accuracy),
			Figure(m.BalancedAccuracy), Figure(m.LogLoss), Figure(m.Brier), Figure(m.ExpectedCost), Figure(m.ExpectedTests))
	}
	return errors.Join(b.Flush(), t.Flush())
}

// Figure spells a metric, "-" when it is not defined.
func Figure(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *x)
}

// Area spells the area under the ROC curve with its 95 % interval.
func Area(m *metric.Metrics) string {
	if m.Intervals == nil || m.Intervals.AUCOvRMacro == nil {
		return Figure(m.AUCOvRMacro)
	}
	return fmt.Sprintf("%s (%s)", Figure(m.AUCOvRMacro), areaInterval(m))
}

func areaInterval(m *metric.Metrics) string {
	if m.Intervals == nil || m.Intervals.AUCOvRMacro == nil {
		return "-"
	}
	return areaRange(m.Intervals.AUCOvRMacro)
}

func areaRange(i *metric.Interval) string { return fmt.Sprintf("%.3f-%.3f", i.Low, i.High) }

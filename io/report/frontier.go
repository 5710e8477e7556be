package report

import (
	"bufio"
	"errors"
	"io"
	"text/tabwriter"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Point is a tree of a frontier.
type Point struct {
	Algorithm  *tree.Algorithm
	Complexity *tree.Complexity
	Merit      float64  // that the tree was judged by
	Validation *float64 // area under the ROC curve
	Interval   *metric.Interval
	Test       *float64 // area under the ROC curve
	Selected   bool
}

// maxPoints is the number of points of a frontier that are shown.
const maxPoints = 12

// Frontier writes a table of the points of a frontier, of many about as many as
// fit on a screen: those next to even steps of merit, the first, the last and
// the selected.
func Frontier(w io.Writer, points []Point) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	b := bufio.NewWriter(t)
	printf(b, "cost\ttests\tdearest path\tleaves\tmerit\tAUC validation\t95 %%\ttest\tgrown by\tpruned\t\n")
	for _, i := range shown(points) {
		p := &points[i]
		interval := "-"
		if p.Interval != nil {
			interval = areaRange(p.Interval)
		}
		mark := ""
		if p.Selected {
			mark = " *"
		}
		a := p.Algorithm
		expected, most := p.Complexity.Billed()
		printf(b, "%.3f\t%.3f\t%s\t%d\t%.4f\t%s\t%s\t%s\t%s, theta %s, %s\t%s\t%s\n", expected, p.Complexity.ExpectedTests, number(most), p.Complexity.Leaves,
			p.Merit, Figure(p.Validation), interval, Figure(p.Test), describe(a), number(a.Theta), a.Tests, a.Prune, mark)
	}
	return errors.Join(b.Flush(), t.Flush())
}

// shown returns which points are shown.
func shown(points []Point) []int {
	var list []int
	low, high := points[0].Merit, points[len(points)-1].Merit
	next := low
	for i := range points {
		due := points[i].Merit >= next
		if len(points) <= maxPoints || due || points[i].Selected || i == len(points)-1 {
			list = append(list, i)
		}
		for due && next <= points[i].Merit && high > low {
			next += (high - low) / (maxPoints - 3)
		}
	}
	return list
}

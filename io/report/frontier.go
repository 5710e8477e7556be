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
	Validation *float64 // area under the ROC curve
	Interval   *metric.Interval
	Test       *float64 // area under the ROC curve
	Selected   bool
}

// maxPoints is the number of points of a frontier that are shown.
const maxPoints = 12

// Frontier writes a table of the points of a frontier, of many about as many as
// fit on a screen: those next to even steps of the area, the first, the last and
// the selected.
func Frontier(w io.Writer, points []Point) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	b := bufio.NewWriter(t)
	printf(b, "cost\ttests\tdearest path\tleaves\tAUC validation\t95 %%\ttest\tgrown by\tpruned\t\n")
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
		c := p.Complexity
		printf(b, "%.3f\t%.3f\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", c.ExpectedCost, c.ExpectedTests, number(c.MaxCost), c.Leaves,
			Figure(p.Validation), interval, Figure(p.Test), describe(p.Algorithm)+", theta "+number(p.Algorithm.Theta), p.Algorithm.Prune, mark)
	}
	return errors.Join(b.Flush(), t.Flush())
}

// shown returns which points are shown.
func shown(points []Point) []int {
	var list []int
	low, high := area(points, 0), area(points, len(points)-1)
	next := low
	for i := range points {
		due := area(points, i) >= next
		if len(points) <= maxPoints || due || points[i].Selected || i == len(points)-1 {
			list = append(list, i)
		}
		for due && next <= area(points, i) && high > low {
			next += (high - low) / (maxPoints - 3)
		}
	}
	return list
}

func area(points []Point, i int) float64 {
	if i < 0 || points[i].Validation == nil {
		return 0
	}
	return *points[i].Validation
}

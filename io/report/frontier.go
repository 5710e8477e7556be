package report

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Point is a tree of a frontier.
type Point struct {
	Tree       string // its file in the run folder
	Algorithm  *tree.Algorithm
	Complexity *tree.Complexity
	Merit      float64  // quality by which trees are chosen
	Validation *float64 // area under the ROC curve
	Interval   *metric.Interval
	Test       *float64 // area under the ROC curve

	Selected bool
	Highest  bool // the highest merit within the limits
	Knee     bool // see frontier.Knee
}

// maxPoints is the greatest number of points shown of a frontier.
const maxPoints = 12

// Frontier writes a table of the points of a frontier, and what the chosen tree loses
// against the tree of the highest merit. Of many points it shows those of
// frontier.Outline. Lines have at most width characters; 0: any length.
func Frontier(w io.Writer, points []Point, width int) error {
	shown := Outlined(points, maxPoints)
	err := frontierTable(points, shown).Write(w, width)
	return errors.Join(err, givenUp(w, points, chosenOf(points), width))
}

// Outlined returns the indexes of at most a number of points that show a frontier, with the chosen
// one and the knee: see frontier.Outline.
func Outlined(points []Point, most int) []int {
	costs, knee := make([]float64, len(points)), []int(nil)
	for i := range points {
		costs[i], _ = points[i].Complexity.Billed()
		if points[i].Knee {
			knee = append(knee, i)
		}
	}
	return frontier.Outline(costs, chosenOf(points), knee, most)
}

// chosenOf returns the index of the chosen point, else of the last one.
func chosenOf(points []Point) int {
	if at := slices.IndexFunc(points, func(p Point) bool { return p.Selected }); at >= 0 {
		return at
	}
	return len(points) - 1
}

// AllPoints writes the table of PointsTable. Lines have at most width characters; 0: any length.
func AllPoints(w io.Writer, points []Point, width int) error {
	return PointsTable(points).Write(w, width)
}

// PointsTable returns a table of all points of a frontier, each by the number of its file.
func PointsTable(points []Point) *Table {
	shown := make([]int, len(points))
	for i := range shown {
		shown[i] = i
	}
	t := frontierTable(points, shown)
	t.Columns[0].Rank = 0 // a tree is named by it
	return t
}

// frontierTable has a row for each shown point. It leaves out redundant columns: the number
// of tests if each test costs 1, and the merit if it is the area.
func frontierTable(points []Point, shown []int) *Table {
	priced := slices.ContainsFunc(points,
		func(p Point) bool { c, _ := p.Complexity.Billed(); return c != p.Complexity.ExpectedTests })
	folded := slices.ContainsFunc(points, func(p Point) bool { return p.Validation == nil || p.Merit != *p.Validation })
	columns := []struct {
		Column

		absent bool
		cell   func(p *Point) string
	}{
		{
			Column{Head: "tree", Left: true, Rank: 3},
			false,
			func(p *Point) string { return Number(p.Tree) },
		},
		{Column{Head: "cost"}, false, func(p *Point) string { c, _ := p.Complexity.Billed(); return threeDigits(c) }},
		{
			Column{Head: "tests", Rank: 2},
			!priced,
			func(p *Point) string { return threeDigits(p.Complexity.ExpectedTests) },
		},
		{
			Column{Head: "dearest path", Rank: 4},
			false,
			func(p *Point) string { _, most := p.Complexity.Billed(); return number(most) },
		},
		{Column{Head: "leaves"}, false, func(p *Point) string { return strconv.Itoa(p.Complexity.Leaves) }},
		{
			Column{Head: "depth", Rank: 8},
			false,
			func(p *Point) string { return strconv.Itoa(p.Complexity.Depth) },
		},
		{Column{Head: "merit"}, !folded, func(p *Point) string { return fmt.Sprintf("%.4f", p.Merit) }},
		{Column{Head: "validation AUC"}, false, func(p *Point) string { return Figure(p.Validation) }},
		{Column{Head: "95 %", Rank: 5}, false, func(p *Point) string { return intervalOf(p.Interval) }},
		{Column{Head: "test AUC", Rank: 1}, false, func(p *Point) string { return Figure(p.Test) }},
		{Column{Head: "pruned", Rank: 6}, false, func(p *Point) string { return p.Algorithm.Prune }},
		{Column{Head: "grown by", Left: true, Rank: 7}, false, func(p *Point) string {
			return fmt.Sprintf("%s, theta %s, %s", describe(p.Algorithm), number(p.Algorithm.Theta), p.Algorithm.Tests)
		}},
		{Column{Left: true}, false, (*Point).Marks},
	}
	t := NewTable()
	for _, c := range columns {
		if !c.absent {
			t.Columns = append(t.Columns, c.Column)
		}
	}
	for _, i := range shown {
		var cells []string
		for _, c := range columns {
			if !c.absent {
				cells = append(cells, c.cell(&points[i]))
			}
		}
		t.Add(cells...)
	}
	return t
}

// Number returns the number of a tree of a frontier, from the name of its file.
func Number(file string) string { return strings.TrimSuffix(path.Base(file), ".json") }

// Marks names a point: chosen, of the highest merit, the knee.
func (p *Point) Marks() string {
	var list []string
	for _, m := range []struct {
		name  string
		holds bool
	}{{"* chosen", p.Selected}, {"highest", p.Highest}, {"knee", p.Knee}} {
		if m.holds {
			list = append(list, m.name)
		}
	}
	return strings.Join(list, ", ")
}

func threeDigits(x float64) string { return fmt.Sprintf("%.3f", x) }

func intervalOf(i *metric.Interval) string {
	if i == nil {
		return "-"
	}
	return areaRange(i)
}

// givenUp compares the chosen tree with the tree of the highest merit, if they differ.
func givenUp(w io.Writer, points []Point, chosen, width int) error {
	at := slices.IndexFunc(points, func(p Point) bool { return p.Highest })
	if at < 0 || at == chosen {
		return nil
	}
	c, h := &points[chosen], &points[at]
	cost, _ := c.Complexity.Billed()
	highest, _ := h.Complexity.Billed()
	text := fmt.Sprintf("chosen: %d leaves and cost %.3g at merit %.4f; the highest merit, %.4f, takes %d leaves "+
		"and cost %.3g (--select highest)",
		c.Complexity.Leaves, cost, c.Merit, h.Merit, h.Complexity.Leaves, highest)
	_, err := fmt.Fprintln(w, Wrapped(text, width, "  "))
	return err
}

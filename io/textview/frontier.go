package textview

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// maxPoints is the greatest number of points shown of a frontier.
const maxPoints = 12

// Frontier writes a table of the points of a frontier, and how the chosen tree compares with the
// tree of the highest merit. If there are many points, it shows the points of OutlineFrontier.
// Lines have at most width characters; 0: unlimited.
func Frontier(w io.Writer, f *runfolder.Frontier, width int) error {
	points := f.Points
	err := frontierTable(f, Outlined(points, maxPoints)).Write(w, width)
	return errors.Join(err, givenUp(w, points, chosenOf(points), width))
}

// Outlined returns the indexes of at most most points that outline a frontier, including the chosen
// point, the least total cost and the kept points: see OutlineFrontier.
func Outlined(points []runfolder.Point, most int, kept ...int) []int {
	costs := make([]float64, len(points))
	for i := range points {
		costs[i] = points[i].ExpectedCost
		if points[i].LeastTotal {
			kept = append(kept, i)
		}
	}
	return OutlineFrontier(costs, chosenOf(points), kept, most)
}

// chosenOf returns the index of the chosen point, or of the last point if none is chosen.
func chosenOf(points []runfolder.Point) int {
	if at := slices.IndexFunc(points, func(p runfolder.Point) bool { return p.Selected }); at >= 0 {
		return at
	}
	return len(points) - 1
}

// PointsTable returns a table of all points of a frontier, each by the number of its file.
func PointsTable(f *runfolder.Frontier) *Table {
	t := frontierTable(f, upTo(len(f.Points)))
	t.Columns[0].Rank = 0 // a tree is named by it
	return t
}

// frontierTable has a row for each shown point. It omits redundant columns: the number of tests if
// each test costs 1, the merit if it is the area, and the area without its optimism if that is not known.
func frontierTable(f *runfolder.Frontier, shown []int) *Table {
	points := f.Points
	chosen := &points[chosenOf(points)]
	priced := slices.ContainsFunc(points,
		func(p runfolder.Point) bool { return p.ExpectedCost != p.ExpectedTests })
	folded := slices.ContainsFunc(points, func(p runfolder.Point) bool { return p.Validation.AUC == nil || p.Merit != *p.Validation.AUC })
	corrected := slices.ContainsFunc(points, func(p runfolder.Point) bool { return p.Optimism != nil })
	mistaken := slices.ContainsFunc(points, func(p runfolder.Point) bool { return p.ExpectedTotalCost != nil })
	measured := slices.ContainsFunc(points, func(p runfolder.Point) bool { return p.Validation.Accuracy != nil }) // earlier versions did not
	type column struct {
		Column

		absent bool
		cell   func(p *runfolder.Point) string
	}
	columns := []column{
		{
			Column{Head: "tree", Left: true, Rank: 3},
			false,
			func(p *runfolder.Point) string { return Number(p.Tree) },
		},
		{Column{Head: "cost"}, false, func(p *runfolder.Point) string { return threeDigits(p.ExpectedCost) }},
		{
			Column{Head: "tests", Rank: 2},
			!priced,
			func(p *runfolder.Point) string { return threeDigits(p.ExpectedTests) },
		},
		{
			Column{Head: "max cost", Rank: 4},
			false,
			func(p *runfolder.Point) string { return number(p.MaxCost) },
		},
		{Column{Head: "leaves"}, false, func(p *runfolder.Point) string { return strconv.Itoa(p.Leaves) }},
		{
			Column{Head: "depth", Rank: 10},
			false,
			func(p *runfolder.Point) string { return strconv.Itoa(p.Depth) },
		},
		{Column{Head: MeritHead(f)}, !folded, func(p *runfolder.Point) string { return fmt.Sprintf("%.4f", p.Merit) }},
		{Column{Head: areaHead(points)}, !corrected, func(p *runfolder.Point) string { return Figure(p.ExpectedAUC()) }},
		{Column{Head: "validation AUC"}, false, func(p *runfolder.Point) string { return Figure(p.Validation.AUC) }},
		{Column{Head: "95 %", Rank: 7}, false, func(p *runfolder.Point) string { return intervalOf(p.Validation.Interval) }},
		{Column{Head: "accuracy", Rank: 5}, !measured, func(p *runfolder.Point) string { return Figure(p.Validation.Accuracy) }},
		{Column{Head: "log loss", Rank: 6}, !measured, func(p *runfolder.Point) string { return Figure(p.Validation.LogLoss) }},
		{Column{Head: "error cost"}, !mistaken, func(p *runfolder.Point) string { return rounded(p.ErrorsBeside(chosen)) }},
		{Column{Head: "total"}, !mistaken, func(p *runfolder.Point) string { return rounded(p.TotalBeside(chosen)) }},
		{Column{Head: "test AUC", Rank: 1}, false, func(p *runfolder.Point) string { return Figure(p.Test.AUC) }},
		{Column{Head: "pruned", Rank: 8}, false, func(p *runfolder.Point) string { return p.Algorithm.Prune }},
		{Column{Head: "grown by", Left: true, Rank: 9}, false, func(p *runfolder.Point) string {
			return fmt.Sprintf("%s, theta %s, %s", describe(&p.Algorithm), number(p.Algorithm.Theta), p.Algorithm.Tests)
		}},
		{Column{Left: true}, false, Marks},
	}
	before := 4 // columns of costs
	for _, cost := range points[0].Further.List() {
		columns = slices.Insert(columns, before,
			column{Column{Head: name(cost.Unit)}, false, func(p *runfolder.Point) string { return threeDigits(p.Further.Of(cost.Unit).ExpectedCost) }},
			column{Column{Head: "max " + name(cost.Unit), Rank: 4}, false, func(p *runfolder.Point) string { return number(p.Further.Of(cost.Unit).MaxCost) }})
		before += 2
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

// MeritHead names the merits of a frontier with their criterion, unless it is the AUC.
func MeritHead(f *runfolder.Frontier) string {
	if f.Merit == "" {
		return "merit"
	}
	return "merit (" + f.Criterion().Figure() + ")"
}

// Number returns the number of a tree in a frontier, given the name of its file.
func Number(file string) string {
	if file == "" {
		return "-" // the run does not list the tree
	}
	return strings.TrimSuffix(path.Base(file), ".json")
}

// Marks returns the marks of a point: chosen, highest merit, least total cost.
func Marks(p *runfolder.Point) string {
	var list []string
	for _, m := range []struct {
		name  string
		holds bool
	}{{"* chosen", p.Selected}, {"highest", p.Highest}, {"least total", p.LeastTotal}} {
		if m.holds {
			list = append(list, m.name)
		}
	}
	return strings.Join(list, ", ")
}

// rounded writes a figure with three digits; "-" if it is undefined.
func rounded(x *float64) string { return orDash(x, threeDigits) }

func threeDigits(x float64) string { return fmt.Sprintf("%.3f", x) }

func intervalOf(i *metric.Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f-%.3f", i.Low, i.High)
}

// givenUp compares the chosen tree with the trees of the highest merit and of the least total cost,
// if they differ.
func givenUp(w io.Writer, points []runfolder.Point, chosen, width int) error {
	c := &points[chosen]
	var texts []string
	if h := marked(points, func(p *runfolder.Point) bool { return p.Highest }); h != nil && h != c {
		texts = append(texts, fmt.Sprintf("chosen: %s at merit %.4f; the highest merit, %.4f, takes %s (--select highest)",
			size(c), c.Merit, h.Merit, size(h)))
	}
	if l := marked(points, func(p *runfolder.Point) bool { return p.LeastTotal }); l != nil && l != c && c.ExpectedTotalCost != nil {
		texts = append(texts, fmt.Sprintf("chosen: tests and errors together cost %.3g a row; the least, %.3g, takes %s "+
			"(--select total)", *c.TotalBeside(c), *l.TotalBeside(c), size(l)))
	}
	var err error
	for _, text := range texts {
		_, failed := fmt.Fprintln(w, Wrapped(text, width, "  "))
		err = errors.Join(err, failed)
	}
	return err
}

// marked returns the first point with a mark; nil if absent.
func marked(points []runfolder.Point, mark func(p *runfolder.Point) bool) *runfolder.Point {
	for i := range points {
		if mark(&points[i]) {
			return &points[i]
		}
	}
	return nil
}

// size names the leaves and the cost of a point's tree.
func size(p *runfolder.Point) string {
	return fmt.Sprintf("%s and cost %.3g", leaves(p.Leaves), p.ExpectedCost)
}

package textview

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/io/runfolder"
)

// Neighbours writes a table of the next cheaper and the next more expensive tree of a frontier,
// compared with the chosen tree: see nextTo. Lines have at most width characters; 0: unlimited.
func Neighbours(w io.Writer, points []runfolder.Point, width int) error {
	points = onFront(points)
	at := slices.IndexFunc(points, func(p runfolder.Point) bool { return p.Selected })
	if at < 0 {
		return nil
	}
	t := NewTable(Column{Head: "instead", Left: true}, Column{Head: "tree"}, Column{Head: "cost"}, Column{Head: "change"},
		Column{Head: "leaves", Rank: 2}, Column{Head: areaHead(points), Rank: 1}, Column{Head: "change"},
		Column{Head: "test AUC", Rank: 3}, Column{Head: "change", Rank: 4})
	cheaper, costlier := nextTo(points, at)
	for _, side := range []struct {
		name string
		at   int
	}{{"cheaper", cheaper}, {"costlier", costlier}} {
		if side.at != at {
			t.Add(against(side.name, &points[side.at], &points[at])...)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t.Write(w, width)
}

// nextTo returns the indexes of the next cheaper and the next more expensive tree, compared with
// the tree at index at. They are the nearest trees that differ by at least a tenth of its cost, or
// the last tree on their side. An index is at if there is no tree on that side.
func nextTo(points []runfolder.Point, at int) (cheaper, costlier int) {
	return neighbour(points, at, -1), neighbour(points, at, 1)
}

// onFront returns the points that have a higher merit than all cheaper points, and the chosen one. With three classes or
// more, other points are listed that are the best by another figure.
func onFront(points []runfolder.Point) []runfolder.Point {
	var front []runfolder.Point
	highest := math.Inf(-1)
	for i := range points {
		if p := &points[i]; p.Merits == nil || p.Selected || p.LeastTotal || p.Merit > highest {
			front = append(front, *p)
			highest = max(highest, p.Merit)
		}
	}
	return front
}

// nearest is the least relative difference in cost of a neighbour.
const nearest = 0.1

// neighbour returns the index of the neighbour on a side; at if absent.
func neighbour(points []runfolder.Point, at, step int) int {
	chosen := points[at].ExpectedCost
	i := at
	for next := at + step; next >= 0 && next < len(points); next += step {
		i = next
		if cost := points[i].ExpectedCost; float64(step)*(cost-chosen) >= nearest*chosen {
			break
		}
	}
	return i
}

// against compares a tree with the chosen one.
func against(name string, p, chosen *runfolder.Point) []string {
	cost := p.ExpectedCost
	paid := chosen.ExpectedCost
	return []string{
		name, Number(p.Tree), threeDigits(cost), fmt.Sprintf("%+.3f", cost-paid), strconv.Itoa(p.Leaves),
		Figure(p.AUCBeside(chosen)), changed(p.AUCBeside(chosen), chosen.ExpectedAUC()), Figure(p.Test.AUC), changed(p.Test.AUC, chosen.Test.AUC),
	}
}

func changed(now, before *float64) string {
	if now == nil || before == nil {
		return "-"
	}
	return fmt.Sprintf("%+.4f", *now-*before)
}

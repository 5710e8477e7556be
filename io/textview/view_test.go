package textview_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

// ladder returns a complete tree of a depth: at each level a test on one of three features.
func ladder(depth int) *tree.Tree {
	t := &tree.Tree{
		Label: tree.Label{Column: "class", Classes: []string{"no", "yes", "perhaps"}},
		Features: []dataset.Feature{
			{Name: "x", Kind: dataset.Numeric, Cuts: []float64{0.123456789, 0.2, 0.3}, Cost: 1},
			{Name: "job", Kind: dataset.Categorical, Values: []string{"a", "b", "c", "d"}, Cost: 2},
			{Name: "day", Kind: dataset.Numeric, Unit: dataset.Date, Cuts: []float64{20778, 20800}, Cost: 4},
		},
		Algorithm: tree.Algorithm{Name: "c45", CostUnit: "euros"},
	}
	weight := int64(1) << depth
	for i := range 1<<(depth+1) - 1 {
		level := 0
		for 1<<(level+1)-1 <= i {
			level++
		}
		w := weight >> level
		n := tree.Node{Rows: w, Weight: w, ClassWeights: []int64{w, 0, 0}, RawClassWeights: []int64{w - int64(i)%w, int64(i) % w, 0}}
		if level < depth {
			test := split.Test{Feature: level % 3, Kind: split.Threshold, Code: 1 + i%2}
			if level%3 == 1 {
				test.Kind, test.Code = split.Equals, i%4
			}
			n.Test = &tree.Test{Test: test, Cost: t.Features[level%3].Cost}
			n.Branches = []tree.Branch{{Outcome: 1, Child: 2*i + 1}, {Outcome: 0, Child: 2*i + 2, Missing: true, Other: true}}
		}
		t.Nodes = append(t.Nodes, n)
	}
	t.Estimate(tree.Raw, 1)
	t.Measure()
	return t
}

func shown(t *testing.T, v *textview.View) string {
	t.Helper()
	var b strings.Builder
	if err := textview.Shown(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDepth: by hand, how many nodes are shown of trees of 8, 512 and 1024 leaves.
func TestDepth(t *testing.T) {
	for _, c := range []struct {
		levels, depth, node, nodes int
		folded                     bool
	}{
		{3, textview.FittingDepth, 0, 15, false},
		{3, textview.WholeDepth, 0, 15, false},
		{3, 1, 0, 3, true},
		{3, 9, 0, 15, false},
		{3, 1, 2, 3, true},
		{3, textview.WholeDepth, 7, 1, false},
		{9, textview.FittingDepth, 0, 31, true}, // 63 nodes are too many
		{9, textview.WholeDepth, 0, 1023, false},
		{9, textview.FittingDepth, 1, 511, false},
		{10, 2, 5, 7, true},
	} {
		v := &textview.View{Tree: ladder(c.levels), Depth: c.depth, Node: c.node}
		if got := len(textview.Picture(v).Nodes); got != c.nodes {
			t.Errorf("%+v: a drawing of %d nodes", c, got)
		}
		text := shown(t, v)
		if got := strings.Contains(text, "by depth"); got != c.folded {
			t.Errorf("%+v: a table by depth: %v\n%s", c, got, text)
		}
		if got := strings.Count(text, " 0.") + strings.Count(text, " 1.00\n"); got < c.nodes {
			t.Errorf("%+v: %d lines of nodes\n%s", c, got, text)
		}
	}
	v := &textview.View{Tree: ladder(9), Depth: 2, Node: 1, Width: 80}
	golden(t, "part", shown(t, v))
	v.Width, v.Coloured = 120, true
	coloured := shown(t, v)
	v.Coloured = false
	plain := shown(t, v)
	if stripped := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(coloured, ""); stripped != plain || coloured == plain {
		t.Errorf("colours change the text:\n%s\n%s", stripped, plain)
	}
}

// TestShortened: by hand.
func TestShortened(t *testing.T) {
	for _, c := range []struct {
		cuts []float64
		cut  float64
		want string
	}{
		{[]float64{3, 4.017072740170225, 5}, 4.017072740170225, "4.017"},
		{[]float64{4.017072740170225, 4.0170728}, 4.017072740170225, "4.0170727402"},
		{[]float64{144342.5, 144958.5}, 144342.5, "144342.5"},
		{[]float64{1795253400.123456, 1795259999}, 1795253400.123456, "1795253400.1"},
		{[]float64{0.30000000000000004}, 0.30000000000000004, "0.3"},
		{[]float64{-0.000012345678, 0}, -0.000012345678, "-1.235e-05"},
		{[]float64{123456, 1e9}, 123456, "123456"},
		{[]float64{12345678, 1e9}, 12345678, "12345678"},
	} {
		f := dataset.Feature{Name: "x", Kind: dataset.Numeric, Cuts: c.cuts}
		if got := textview.Shortened(&f, c.cut); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.cut, c.cuts, got, c.want)
		}
	}
}

// TestShortenedKeepsApart: cuts keep their order, and the error is at most a thousandth of
// the distance to the next cut.
func TestShortenedKeepsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		f := dataset.Feature{Name: "x", Kind: dataset.Numeric}
		scale := math.Pow(10, float64(r.IntN(24)-12))
		for range 1 + r.IntN(6) {
			f.Cuts = append(f.Cuts, (r.Float64()-0.3)*scale)
			if r.IntN(3) == 0 {
				f.Cuts = append(f.Cuts, math.Nextafter(f.Cuts[0], 1e300))
			}
		}
		slices.Sort(f.Cuts)
		f.Cuts = slices.Compact(f.Cuts)
		for i, cut := range f.Cuts {
			text := textview.Shortened(&f, cut)
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || len(text) > 24 {
				t.Fatalf("%v: %q: %v", cut, text, err)
			}
			for k, other := range f.Cuts {
				if k != i && math.Abs(x-cut) > math.Abs(other-cut)/999 {
					t.Fatalf("%v beside %v: %q", cut, other, text)
				}
			}
		}
	}
}

// rowsOf draws rows of a tree's tested features, as values.
func rowsOf(t *tree.Tree, r *rand.Rand) []tree.Value {
	var values []tree.Value
	for _, in := range t.Scorer().Features() {
		f := &t.Features[in.Feature]
		code, value := r.IntN(f.Codes()), tree.Value{}
		switch {
		case code == f.MissingCode():
		case code == f.OtherCode():
			value = tree.Text("none of the values")
		case f.Kind == dataset.Categorical:
			value = tree.Text(f.Values[code])
		case code == 0:
			value = tree.Number(f.Cuts[0] - 1)
		default:
			value = tree.Number(f.Cuts[code-1])
		}
		values = append(values, value)
	}
	return values
}

// TestRoute: the path of a row ends at the leaf that a scorer gives, and costs what it bills.
// Rules of the leaf hold the values of the row, and drawings light the nodes of the path.
func TestRoute(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, file := range []string{"", "billed", "both", "boosted", "dated", "modelled", "multiway", "onehot", "threshold"} {
		m := ladder(9)
		if file != "" {
			m = goldenTree(t, file+".json")
		}
		scorer := m.Scorer()
		for range 50 {
			values := rowsOf(m, r)
			want, err := scorer.Predict(values)
			if err != nil {
				t.Fatal(err)
			}
			route, err := textview.NewRoute(m, values)
			if err != nil {
				t.Fatal(err)
			}
			paid := 0.0
			for _, s := range route.Steps {
				paid += s.Cost
				if s.Paid != paid {
					t.Errorf("%s: sum %v, want %v", file, s.Paid, paid)
				}
			}
			if route.Leaf != want.Leaf || len(route.Steps) != want.Tests || math.Abs(paid-want.Cost) > 1e-9 {
				t.Errorf("%s: %v: leaf %d for %v, want %d for %v", file, values, route.Leaf, paid, want.Leaf, want.Cost)
			}
			v := &textview.View{Tree: m, Depth: 1, Route: route}
			lit := 0
			for _, n := range textview.Picture(v).Nodes {
				if n.Lit {
					lit++
				}
			}
			if lit != want.Tests+1 {
				t.Errorf("%s: %d nodes are lit, want %d", file, lit, want.Tests+1)
			}
			var b strings.Builder
			if err := textview.Rules(&b, v); err != nil || !strings.Contains(b.String(), fmt.Sprintf("leaf %d\n", want.Leaf)) ||
				strings.Count(b.String(), "leaf ") != 1 {
				t.Errorf("%s: %v: rules\n%s", file, err, b.String())
			}
		}
	}
}

func TestPath(t *testing.T) {
	m := ladder(4)
	route, err := textview.NewRoute(m, []tree.Value{tree.Number(0.25), tree.Text("e\x1b[31m"), {}})
	if err != nil {
		t.Fatal(err)
	}
	route.Row = "row 3 of a\n.parquet"
	var b strings.Builder
	for _, width := range []int{0, 80, 50} {
		if err := textview.Path(&b, &textview.View{Tree: m, Route: route, Width: width}); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	golden(t, "path", b.String())
	if _, err := textview.NewRoute(m, nil); err == nil {
		t.Error("a row without values: no error")
	}
}

func TestRules(t *testing.T) {
	var b strings.Builder
	for _, v := range []*textview.View{
		{Tree: every()}, {Tree: ladder(5), Node: 4, Width: 60},
	} {
		if err := textview.Rules(&b, v); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	golden(t, "rules", b.String())
}

// TestPathOutside: a path marks a value that is outside the range of training.
func TestPathOutside(t *testing.T) {
	m := &tree.Tree{
		Label:    tree.Label{Column: "ill", Classes: []string{"no", "yes"}},
		Features: []dataset.Feature{{Name: "crp", Kind: dataset.Numeric, Cuts: []float64{5}, Range: []float64{1, 9}, Cost: 1}},
		Nodes: []tree.Node{
			{Test: &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}, Cost: 1}, Branches: []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2, Missing: true}}},
			{},
			{},
		},
	}
	for i := range m.Nodes {
		m.Nodes[i].Rows, m.Nodes[i].Weight, m.Nodes[i].Probabilities = 1, 1, []float64{0.5, 0.5}
		m.Nodes[i].RawClassWeights, m.Nodes[i].ClassWeights = []int64{1, 0}, []int64{1, 0}
	}
	for x, want := range map[float64]string{
		1: "crp = 1", 9: "crp = 9", 9.5: "crp = 9.5, outside the values of training", 17: "crp = 17, outside the values of training",
		17.5: "crp = 17.5, far outside the values of training", -8: "crp = -8, far outside the values of training",
	} {
		route, err := textview.NewRoute(m, []tree.Value{tree.Number(x)})
		if err != nil {
			t.Fatal(err)
		}
		if got := textview.NewPathTable(&textview.View{Tree: m, Route: route}).Steps[0].Value; got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}

// TestAllOperatingReasons: where no thresholds can be listed, the text says why.
func TestAllOperatingReasons(t *testing.T) {
	for _, c := range []struct {
		classes []string
		weights []int64
		class   string
		want    string
	}{
		{[]string{"a", "b", "c"}, []int64{3, 2, 1}, "", "no thresholds are listed: the tree names no class of interest: name one of its classes by --positive"},
		{[]string{"a", "b"}, []int64{3, 0}, "b", "no thresholds are listed: no row is of the class b, so"},
		{[]string{"a", "b"}, []int64{3, 0}, "a", "no thresholds are listed: all rows are of the class a, so"},
		{[]string{"a", "b"}, []int64{3, 2}, "b", "operating points of b on evaluated rows"},
	} {
		p := make([]float64, len(c.classes))
		p[0] = 1
		rows := int64(0)
		for _, w := range c.weights {
			rows += w
		}
		m := metric.Evaluate([]metric.Leaf{{Weights: c.weights, Rows: rows, Probabilities: p}}, c.classes, 1)
		var b strings.Builder
		one := &tree.Tree{Label: tree.Label{Classes: c.classes}}
		if err := textview.AllOperating(&b, one, &m, c.class, "evaluated", 0); err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("%v, %q: %v, want %q in\n%s", c.classes, c.class, err, c.want, b.String())
		}
	}
}

// TestFrontierFurther: further currencies have columns in the order of their units.
func TestFrontierFurther(t *testing.T) {
	further := dataset.NewFurtherCosts([]string{"euros", "minutes"}, dataset.Amounts{4, 5}, dataset.Amounts{9, 8})
	f := &runfolder.Frontier{Points: []runfolder.Point{{Tree: "frontier/000.json", Selected: true, Complexity: tree.Complexity{Further: further}}}}
	var b strings.Builder
	if err := textview.Frontier(&b, f, 0); err != nil || !regexp.MustCompile(`max cost +euros +max euros +minutes +max minutes`).MatchString(b.String()) {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/pagetest"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// runOf returns a run of trees by ascending cost, the last one of which is the run's.
func runOf(trees ...*tree.Tree) *runfolder.Run {
	last := trees[len(trees)-1]
	leaves := make([]metric.Leaf, 0, len(last.Nodes))
	for i := range last.Nodes {
		if n := &last.Nodes[i]; n.Leaf() {
			leaves = append(leaves, metric.Leaf{
				Probabilities: n.Probabilities, Class: n.Class, Weights: n.RawClassWeights, Rows: n.Rows,
			})
		}
	}
	m := metric.Evaluate(leaves, last.Label.Classes, 1)
	r := &runfolder.Run{
		Tree: last, Metrics: &runfolder.Metrics{Train: &m, Test: &m}, Trees: trees,
		Frontier: &runfolder.Frontier{Format: runfolder.FrontierFormat, Version: 1},
		Manifest: &runfolder.Manifest{
			Started: time.Date(2026, 11, 23, 4, 5, 6, 7, time.UTC),
			Config:  json.RawMessage(`{"input": ["a.parquet"], "seed": 1}`),
			Inputs:  []runfolder.Input{{URL: "file:///data/a.parquet", Rows: 10}},
		},
	}
	for i, t := range trees {
		auc := 0.5 + float64(i+1)/float64(2*len(trees)+2)
		r.Frontier.Points = append(r.Frontier.Points, runfolder.Point{
			Tree: runfolder.FrontierTree(i), Algorithm: t.Algorithm, Complexity: t.Complexity, Merit: auc,
			Validation: metric.Judgement{AUC: &auc}, Selected: t == last,
		})
	}
	return r
}

// written returns the page of a content.
func written(t *testing.T, c *report.Content) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parts returns a page without its script, its style, its pictures and its data; and its data.
func parts(t *testing.T, page string) (markup, data string) {
	t.Helper()
	const begin, end = `<script type="application/json" id="data">`, "</script>"
	before, rest, ok := strings.Cut(page, begin)
	data, rest, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the page has no data")
	}
	_, rest, _ = strings.Cut(rest, end)
	before = regexp.MustCompile(`(?s)<svg .*?</svg>`).ReplaceAllString(before, "") // io/chart has tests of them
	head, body, _ := strings.Cut(before, "<style>")
	_, body, _ = strings.Cut(body, "</style>")
	return strings.TrimPrefix(head+body+rest, report.Mark), data
}

// What the page has.
const (
	elements = "html head meta title body header main nav section noscript code h1 h2 h3 a p span b div strong table thead " +
		"tbody tr th td details summary label input button dl ol ul li pre form"
	attributes = "lang charset http-equiv content name class id title role href for type min max step value scope " +
		"tabindex autocomplete hidden aria-hidden aria-label aria-labelledby"
)

// TestNames: names that look like markup stay texts, and the data is JSON.
func TestNames(t *testing.T) {
	view := pagetest.View(t)
	r := runOf(view.Tree)
	for _, name := range pagetest.Names() {
		r.Manifest.Inputs = append(r.Manifest.Inputs, runfolder.Input{URL: name})
	}
	config, err := json.Marshal(map[string]any{"<script>": strings.Join(pagetest.Names(), "")})
	if err != nil {
		t.Fatal(err)
	}
	r.Manifest.Config = json.RawMessage(config)
	r.Importance = &runfolder.Importance{}
	for _, name := range pagetest.Names() {
		r.Importance.Features = append(r.Importance.Features, importance.Feature{Name: name})
	}
	page := written(t, &report.Content{Run: r, Route: view.Route, Previous: runOf(pagetest.Tree())})
	pagetest.CheckText(t, "page", page)
	markup, data := parts(t, page)
	pagetest.CheckMarkup(t, "page", markup, elements, attributes)
	if !json.Valid([]byte(data)) || strings.ContainsAny(data, "<>&") {
		t.Error("the data is no JSON that HTML can hold")
	}
	if len(page) > 200_000 {
		t.Errorf("%d bytes", len(page))
	}
}

// largeTree returns a tree of about the given number of nodes, each with a test of its own.
func largeTree(nodes, classes int) *tree.Tree {
	r := rand.New(rand.NewPCG(uint64(nodes), uint64(classes)))
	m := &tree.Tree{Label: tree.Label{Column: "class"}, Algorithm: tree.Algorithm{Name: "ec45", Lambda: 10}}
	for k := range classes {
		m.Label.Classes = append(m.Label.Classes, fmt.Sprintf("class %05d", k))
	}
	for k := range 50 {
		f := dataset.Feature{Name: fmt.Sprintf("a numeric feature %d", k), Kind: dataset.Numeric, Cost: 1}
		for range 500 {
			f.Cuts = append(f.Cuts, r.Float64())
		}
		slices.Sort(f.Cuts)
		m.Features = append(m.Features, f)
	}
	node := func(rows int64) tree.Node {
		n := tree.Node{Rows: rows, Weight: rows, RawClassWeights: make([]int64, classes)}
		n.RawClassWeights[r.IntN(classes)], n.RawClassWeights[r.IntN(classes)] = rows-rows/3, rows/3
		n.ClassWeights = n.RawClassWeights
		return n
	}
	m.Nodes = []tree.Node{node(1 << 40)}
	for i := 0; len(m.Nodes) < nodes; i++ {
		n := &m.Nodes[i]
		n.Test = &tree.Test{
			Test: split.Test{Feature: r.IntN(50), Kind: split.Threshold, Code: 1 + r.IntN(500)}, Cost: 1,
			Score: split.Parts{Balance: r.Float64(), Efficiency: r.Float64(), Discrimination: r.Float64(), Total: r.Float64()},
		}
		at := len(m.Nodes)
		n.Branches = []tree.Branch{{Outcome: 1, Child: at}, {Outcome: 0, Child: at + 1, Missing: true}}
		rows := n.Rows * int64(1+r.IntN(9)) / 10
		m.Nodes = append(m.Nodes, node(rows), node(n.Rows-rows))
	}
	m.Estimate(tree.Smoothed, 1)
	m.Measure()
	return m
}

// wideTree returns a tree that asks for a value of each of many categorical features.
func wideTree(features, values int) *tree.Tree {
	m := largeTree(2*features+1, 2)
	m.Features = nil
	for k := range features {
		f := dataset.Feature{Name: fmt.Sprintf("feature %d", k), Kind: dataset.Categorical, Cost: 1}
		for v := range values {
			f.Values = append(f.Values, fmt.Sprintf("value %d of feature number %d, a long one", v, k))
		}
		m.Features = append(m.Features, f)
		m.Nodes[k].Test.Feature, m.Nodes[k].Test.Kind, m.Nodes[k].Test.Code = k, split.Equals, k%values
		m.Nodes[k].Branches[1].Other = true
	}
	return m
}

// TestSize: a page has less than 2 MB, whatever the trees; and it has as much of them as fits.
func TestSize(t *testing.T) {
	longtest.Skip(t)
	large := largeTree(20_001, 2)
	many := []*tree.Tree{}
	for k := range 40 {
		many = append(many, largeTree(1001+100*k, 7))
	}
	var steps []*tree.Tree
	for k := range 300 {
		steps = append(steps, largeTree(21+2*k, 2))
	}
	for _, c := range []struct {
		name  string
		trees []*tree.Tree
		least int
	}{
		{"20,000 nodes", []*tree.Tree{large}, 800_000},
		{"40 trees", many, 1_000_000},
		{"300 small trees", steps, 200_000},
		{"400 features of 190 values", []*tree.Tree{wideTree(400, 190)}, 100_000},
		{"5,000 classes", []*tree.Tree{largeTree(2001, 5000)}, 200_000},
	} {
		page := written(t, &report.Content{Run: runOf(c.trees...)})
		if len(page) >= 2_000_000 || len(page) < c.least {
			t.Errorf("%s: %d bytes, want from %d to 2,000,000", c.name, len(page), c.least)
		}
		markup, data := parts(t, page)
		var d struct{ Trees []json.RawMessage }
		if err := json.Unmarshal([]byte(data), &d); err != nil || len(d.Trees) == 0 || string(d.Trees[0]) == "null" {
			t.Errorf("%s: the data has no tree: %v", c.name, err)
		}
		pagetest.CheckMarkup(t, c.name, markup, elements, attributes)
		t.Logf("%s: %d bytes, %d trees", c.name, len(page), len(d.Trees))
	}
}

// TestSame: equal documents give equal pages.
func TestSame(t *testing.T) {
	one := written(t, &report.Content{Run: runOf(largeTree(301, 3), largeTree(501, 3))})
	if two := written(t, &report.Content{Run: runOf(largeTree(301, 3), largeTree(501, 3))}); one != two {
		t.Error("two pages of equal documents differ")
	}
}

// TestAnswers: the page answers what a reader wants to know first, in words.
func TestAnswers(t *testing.T) {
	page := written(t, &report.Content{Run: runOf(largeTree(101, 2), largeTree(301, 2))})
	for _, want := range []string{
		"Why is this the first question?", "What does a row cost?", "Can its probabilities be trusted?", "a numeric feature ",
		"on average, ", " at most", "highest score of all questions", "percentage points", "The trees in a table", "What next?",
		"espalier predict --model RUN",
	} {
		if !strings.Contains(strings.ToLower(page), strings.ToLower(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestAlternatives: trees that are nearly as good and as cheap as the run's, within its limits, are listed if they ask another
// feature first: the best one of each feature.
func TestAlternatives(t *testing.T) {
	var trees []*tree.Tree
	for i, first := range []int{3, 4, 5, 5, 6, 7, 2} {
		m := largeTree(21+2*i, 2)
		m.Nodes[0].Test.Feature = first
		trees = append(trees, m)
	}
	r := runOf(trees...)
	for i, p := range []struct{ cost, auc float64 }{
		{10, 0.895},  // feature 3: good
		{10, 0.88},   // 4: too bad
		{10, 0.896},  // 5: good
		{9, 0.899},   // 5: better
		{11.5, 0.95}, // 6: too expensive
		{10.5, 0.91}, // 7: not within the limits
		{10, 0.9},    // 2: the run's
	} {
		q := &r.Frontier.Points[i]
		q.ExpectedCost, q.Merit, q.Validation.AUC = p.cost, p.auc, &p.auc
	}
	r.Frontier.Limits.Leaves = r.Frontier.Points[6].Leaves
	r.Frontier.Points[5].Leaves = r.Frontier.Limits.Leaves + 1
	page := written(t, &report.Content{Run: r})
	_, list, ok := strings.Cut(page, "with another first question</h3>")
	list, _, ok2 := strings.Cut(list, "</table>")
	if !ok || !ok2 {
		t.Fatal("no table of other first questions")
	}
	rows := regexp.MustCompile(`<tr><td>a numeric feature (\d+) [^<]*</td><td class="n">(\d)</td>`).FindAllStringSubmatch(list, -1)
	var got []string
	for _, row := range rows {
		got = append(got, row[1]+" "+row[2])
	}
	if want := []string{"5 3", "3 0"}; !slices.Equal(got, want) {
		t.Errorf("first features and trees %q, want %q in %s", got, want, list)
	}
	for _, p := range []int{0, 2, 3} {
		r.Frontier.Points[p].ExpectedCost = 100
	}
	if strings.Contains(written(t, &report.Content{Run: r}), "with another first question") {
		t.Error("dear trees are offered")
	}
}

func BenchmarkPage(b *testing.B) {
	r := runOf(largeTree(1001, 7), largeTree(3001, 7), largeTree(5001, 7))
	for b.Loop() {
		var page bytes.Buffer
		if err := report.Write(&page, &report.Content{Run: r}); err != nil {
			b.Fatal(err)
		}
	}
}

package modelcard_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/modelcard"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// hostile are names that would be markup, break a line or a table, or turn the text around.
func hostile() []string {
	return []string{
		"<script>alert(1)</script>", "a|b \\| c\\", "`code` ``", "*bold* _it_ ~~no~~", "[x](http://e.vil) ![y](z)", "# Heading",
		"line\nbreak\r\n\n## two", "nul\x00 esc\x1b[31m", "\u202eright to left\u2066", strings.Repeat("long ", 2000), "", "  blanks  ",
		"<!-- comment", "&lt;b&gt; &#60;", "https://e.vil/a www.e.vil me@e.vil", "bad \xff\xfe utf8", "- item", "1. item", "$x$ ^y^ ==z==",
		"```", "    code", "a_b_c", "\\", "]]>",
	}
}

// runNamed returns a run whose names are all made by a function.
func runNamed(name func(i int) string) *runfolder.Run {
	classes := []string{name(0), name(1) + "1", name(2) + "2"}
	features := []dataset.Feature{
		{Name: name(3), Kind: dataset.Categorical, Type: dataset.Text, Values: []string{name(4)}, Cost: 1},
		{Name: name(5) + "5", Kind: dataset.Numeric, Cuts: []float64{30.5}, Cost: 2, Range: []float64{1, 90}},
	}
	leaf := func(class int, weights ...int64) tree.Node {
		n := tree.Node{Rows: 30, Weight: 30, Class: class, RawClassWeights: weights, ClassWeights: weights}
		for _, w := range weights {
			n.Probabilities = append(n.Probabilities, float64(w)/30)
		}
		return n
	}
	root, inner := leaf(0, 20, 5, 5), leaf(1, 10, 10, 10)
	root.Test = &tree.Test{Test: split.Test{Kind: split.Equals}, Cost: 1}
	root.Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2, Missing: true, Other: true}}
	inner.Test = &tree.Test{Test: split.Test{Kind: split.Threshold, Feature: 1, Code: 1}, Cost: 2}
	inner.Branches = []tree.Branch{{Outcome: 1, Child: 3}, {Outcome: 0, Child: 4, Missing: true}}
	t := &tree.Tree{
		Label: tree.Label{Column: name(6), Classes: classes}, Features: features,
		Algorithm: tree.Algorithm{Name: "ec45", Tests: "both", Binning: "quantile", LeafEstimate: "raw", Prune: "cost", CostUnit: name(7)},
		Training:  tree.Training{Rows: 90, Objects: 80, Weight: 90, ClassWeights: []float64{1, 2, 3}},
		Nodes:     []tree.Node{root, leaf(0, 20, 5, 5), inner, leaf(1, 3, 24, 3), leaf(2, 1, 1, 28)},
	}
	t.Measure()
	var leaves []metric.Leaf
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() {
			leaves = append(leaves, metric.Leaf{Probabilities: n.Probabilities, Class: n.Class, Weights: n.RawClassWeights, Rows: n.Rows, Cost: 1, Tests: 1})
		}
	}
	m := metric.Evaluate(leaves, classes, 1)
	worse := metric.Evaluate([]metric.Leaf{{Probabilities: []float64{0, 1, 0}, Class: 1, Weights: []int64{300, 0, 300}, Rows: 600}}, classes, 1)
	value, from := name(8), 12.5
	for _, rows := range []metric.SliceRows{
		{Column: name(9), Of: metric.SliceOfValue, Value: &value},
		{Column: name(10), Of: metric.SliceOfRange, From: &from},
		{Column: name(11), Of: metric.SliceOfMissing},
		{Column: name(12), Of: metric.SliceOfOthers},
	} {
		m.Slices = append(m.Slices, metric.NewSlice(rows, &worse, 1000))
	}
	lost := 0.1
	config, _ := json.Marshal(map[string]any{"split": name(13), "weight": name(14) + "w", "label_probabilities": []string{name(15)}})
	return &runfolder.Run{
		Tree: t, Metrics: &runfolder.Metrics{Test: &m},
		Schema: &tree.Schema{Columns: []tree.SchemaColumn{{Name: name(16), Role: "ignored"}, {Name: name(17), Role: "forbidden"}}},
		Importance: &runfolder.Importance{Features: []importance.Feature{
			{Name: name(18), AUCLost: &lost}, {Name: name(19)},
		}},
		Frontier: &runfolder.Frontier{Select: name(20), Points: []runfolder.Point{{Tree: "frontier/000.json", Selected: true}}},
		Manifest: &runfolder.Manifest{
			Espalier: name(21), Started: time.Date(2026, 11, 23, 4, 5, 6, 7, time.UTC), Config: json.RawMessage(config),
			Inputs: []runfolder.Input{{URL: name(22), Rows: 1234}},
			Origin: &runfolder.Origin{Run: name(23), Digest: name(24)},
		},
	}
}

func written(t *testing.T, c *modelcard.Content) string {
	t.Helper()
	var b bytes.Buffer
	if err := modelcard.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// outline returns the headings of a card, and how often each other kind of element occurs, by a
// parser of Markdown with the tables, strikethroughs and links of GitHub.
func outline(t *testing.T, card string) (headings []string, kinds map[string]int, cells []string) {
	t.Helper()
	source := []byte(card)
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	kinds = make(map[string]int)
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		kinds[n.Kind().String()]++
		switch n := n.(type) {
		case *ast.Heading:
			headings = append(headings, strings.Repeat("#", n.Level)+" "+shown(n, source))
		case *table.TableCell:
			cells = append(cells, shown(n, source))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return headings, kinds, cells
}

// shown returns what a reader sees of an element.
func shown(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// usual are the headings of a card of three classes with slices, features and a frontier.
func usual() []string {
	return []string{
		"## Model details", "## Intended use", "### Out of scope", "### What a prediction takes", "## Factors", "## Metrics",
		"## Evaluation data", "## Training data", "## Quantitative analyses", "### All rows", "### Classes, test rows",
		"### Slices, test rows", "### Features", "### Cost against quality", "### Choice and trust", "## Ethical considerations",
		"## Caveats and recommendations",
	}
}

// TestHostileNames: whatever the names are, the card has its own headings, tables and emphasis
// and nothing else: no tag, link, code or further cell.
func TestHostileNames(t *testing.T) {
	_, plain, cells := outline(t, written(t, &modelcard.Content{Run: runNamed(func(i int) string { return fmt.Sprint("name ", i) })}))
	if plain["Table"] != 5 || plain["TableRow"] < 11 || len(cells) < 90 {
		t.Fatalf("elements %v", plain)
	}
	for shift := range hostile() {
		name := func(i int) string { return hostile()[(i+shift)%len(hostile())] }
		card := written(t, &modelcard.Content{Run: runNamed(name)})
		headings, kinds, _ := outline(t, card)
		if diff := cmp.Diff(usual(), headings[1:]); diff != "" || !strings.HasPrefix(headings[0], "# Model card") {
			t.Errorf("shift %d: headings %q, %s", shift, headings[0], diff)
		}
		delete(kinds, "Text")
		same := make(map[string]int)
		for kind, n := range plain {
			if kind != "Text" {
				same[kind] = n
			}
		}
		if diff := cmp.Diff(same, kinds); diff != "" {
			t.Errorf("shift %d: elements (-plain +hostile):\n%s", shift, diff)
		}
		for _, bad := range []string{"<", "\x00", "\x1b", "\u202e", "\u2066", "\r", "http://", "https://", "www."} {
			if strings.Contains(card, bad) {
				t.Errorf("shift %d: the card has %q", shift, bad)
			}
		}
		if len(card) > 40_000 {
			t.Errorf("shift %d: %d bytes", shift, len(card))
		}
	}
}

// TestNamesAreShown: a reader sees the characters of a name.
func TestNamesAreShown(t *testing.T) {
	for name, want := range map[string]string{
		"a_b_c": "a_b_c", "*x* _y_": "*x* _y_", "a|b": "a|b", "<b>": "<b>", "`c`": "`c`", "[l](m)": "[l](m)", "line\nbreak": `line\nbreak`,
		"": `""`, " x ": `" x "`, "\u202ex": `\u202ex`, "été 日本": "été 日本", "https://x.y": "https://x.y", "me@x": "me@x", "\\": `\`,
	} {
		card := written(t, &modelcard.Content{Run: runNamed(func(int) string { return name })})
		var b bytes.Buffer
		if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(card), &b); err != nil {
			t.Fatal(err)
		}
		heading, _, _ := strings.Cut(b.String(), "</h1>")
		_, got, _ := strings.Cut(heading, "a classification tree for ")
		escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(want)
		if got != escaped {
			t.Errorf("%q is shown as %q, want %q", name, got, escaped)
		}
	}
}

var update = flag.Bool("update", false, "write the golden card")

// TestGolden: a card is the same as before, as a whole.
func TestGolden(t *testing.T) {
	file := filepath.Join("testdata", "model_card.md")
	got := written(t, &modelcard.Content{Run: runNamed(func(i int) string { return fmt.Sprint("name ", i) })})
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the card (-golden +now; -update writes it anew):\n%s", diff)
	}
}

// TestCard: the card has the facts of its run and the notes, and begins with the mark.
func TestCard(t *testing.T) {
	card := written(t, &modelcard.Content{
		Run:   runNamed(func(i int) string { return fmt.Sprint("name", i) }),
		Notes: modelcard.Notes{"owner": "the risk\nteam", "intended_use": "- Loans.\n- Not pensions."},
	})
	for _, want := range []string{
		modelcard.Mark, "**Owner:** the risk team\n", "\n- Loans.\n", "*To be filled in: whom wrong predictions harm",
		"2 tests and 3 leaves", "The tree is worse where name10 >= 12.5", "Only 24 of the test rows are of the class name0",
		"| name18 | 0.1000 |", "1,234 rows",
	} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q", want)
		}
	}
	r := runNamed(func(i int) string { return fmt.Sprint("name", i) })
	r.Schema, r.Importance, r.Frontier, r.Metrics.Test.Slices = nil, nil, nil, nil
	r.Metrics.Validation, r.Metrics.Test = r.Metrics.Test, nil
	card = written(t, &modelcard.Content{Run: r})
	headings, _, _ := outline(t, card)
	for _, without := range []string{"### Features", "### Cost against quality", "### Slices, validation rows"} {
		if slices.Contains(headings, without) {
			t.Errorf("a run without has %q", without)
		}
	}
	if !strings.Contains(card, "There is no test part") {
		t.Error("the card does not say that there is no test part")
	}
}

package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

// facts are the data from which the texts of a page are made.
type facts struct {
	*runfolder.Run

	part     string          // the rows on which the tree is measured
	metrics  *metric.Metrics // metrics on these rows
	interest int             // the class of interest; -1: none
	settings *table          // by flag
}

// newFacts collects the facts of a run.
func newFacts(r *runfolder.Run) (*facts, error) {
	shown, _ := textview.Interested(r.Tree)
	f := &facts{Run: r, interest: shown.Label.Positive()}
	f.part, f.metrics = r.Metrics.Best()
	var err error
	f.settings, err = settings(r.Manifest)
	return f, err
}

// maxSetting is the greatest number of characters shown of a setting.
const maxSetting = 300

// settings returns the settings of a run in the order of manifest.json.
func settings(m *runfolder.Manifest) (*table, error) {
	if m == nil {
		return nil, nil //nolint:nilnil // no settings to show
	}
	b, err := json.Marshal(m.Config)
	if err != nil {
		return nil, err
	}
	t := textview.NewTable(textview.Column{Head: "setting", Left: true}, textview.Column{Head: "value", Left: true})
	d := json.NewDecoder(bytes.NewReader(b))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, err // no settings are known
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		t.Add(textview.Name(fmt.Sprint(key)), cut(strings.Trim(string(value), `"`), maxSetting))
	}
	return newTable(t), nil
}

// cut shortens a text to a number of characters.
func cut(s string, most int) string {
	if list := []rune(s); len(list) > most {
		return string(list[:most]) + "..."
	}
	return s
}

// title is the title of the page.
func (f *facts) title() string {
	return textview.Name(f.Tree.Label.Column) + ": a tree and what it costs"
}

// lead describes the tree in a sentence.
func (f *facts) lead() string {
	c := &f.Tree.Complexity
	return fmt.Sprintf("A decision tree with %s and %s, which asks %s questions a row on average.",
		count(c.Leaves, "leaf", "leaves"), count(c.Depth, "level", "levels"), short(*cmp.Or(f.metrics.ExpectedTests, &c.ExpectedTests)))
}

// count writes a number of things.
func count[T int | int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(int64(n)) + " " + many
}

// short formats a number with three significant digits, and all digits before the decimal point.
func short(x float64) string {
	if math.Abs(x) >= 1000 {
		return humanize.Comma(int64(math.Round(x)))
	}
	return fmt.Sprintf("%.3g", x)
}

// points writes a difference of shares in percentage points.
func points(share float64) string { return fmt.Sprintf("%.1f percentage points", 100*share) }

// cost writes a cost with its unit.
func (f *facts) cost(x float64) string {
	if unit := unitOf(f.Tree); unit != "" {
		return short(x) + " " + unit
	}
	return short(x)
}

// notes are remarks that a reader needs to understand the figures.
func (f *facts) notes() []string {
	var notes []string
	if text := textview.About(f.Tree); text != "" {
		notes = append(notes, sentence(text))
	}
	if text := textview.OneDecides(f.Tree); text != "" {
		notes = append(notes, text)
	}
	if n := f.Tree.Training.CutLeaves; n > 0 {
		notes = append(notes, count(n, "leaf", "leaves")+" were not split for lack of time: a later deadline gives a larger "+
			"tree.")
	}
	return notes
}

// sentence makes a text a sentence.
func sentence(s string) string { return upper(s) + "." }

// upper makes the first letter a capital.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// importance describes what the table of features shows.
func (f *facts) importance() string {
	i := f.Importance
	return fmt.Sprintf("AUC lost: how much worse the tree ranks %s of the %s part if the feature is permuted. "+
		"Of impurity: its part of the uncertainty that all questions take away. Rows asked: the share of the training "+
		"rows with a question on it.", count(i.Rows, "row", "rows"), i.Part)
}

// calibration compares predicted probabilities with observed frequencies, in bins.
func (f *facts) calibration() *table {
	c := f.metrics.Calibration
	if c == nil {
		return nil
	}
	t := textview.NewTable(textview.Column{Head: "probability", Left: true}, textview.Column{Head: "rows"},
		textview.Column{Head: "said on average"}, textview.Column{Head: "came true"}, textview.Column{Head: "difference"})
	scale := cmp.Or(f.metrics.WeightScale, 1)
	for _, b := range c.Bins {
		t.Add(fmt.Sprintf("%.0f to %.0f %%", 100*b.From, 100*b.To), humanize.Comma(int64(math.Round(float64(b.Weight)/scale))),
			textview.Percent(b.MeanProbability), textview.Percent(b.ObservedShare),
			fmt.Sprintf("%+.1f", 100*(b.ObservedShare-b.MeanProbability)))
	}
	return newTable(t)
}

// inputs lists the input files.
func (f *facts) inputs() *table {
	if f.Manifest == nil || len(f.Manifest.Inputs) == 0 {
		return nil
	}
	t := textview.NewTable(textview.Column{Head: "file", Left: true}, textview.Column{Head: "rows"},
		textview.Column{Head: "bytes"}, textview.Column{Head: "digest of the footer", Left: true})
	shown, others := textview.Visible(len(f.Manifest.Inputs), maxInputs)
	for i := range f.Manifest.Inputs[:shown] {
		in := &f.Manifest.Inputs[i]
		t.Add(cut(in.URL, maxSetting), humanize.Comma(in.Rows), humanize.Comma(in.Size), cut(in.FooterDigest, 16))
	}
	if others != "" {
		t.Add(others)
	}
	return newTable(t)
}

// maxInputs is the greatest number of input files listed.
const maxInputs = 20

// root returns the node of the first question; nil if the tree asks nothing.
func (f *facts) root() *tree.Node {
	if n := f.Tree.Question(0); !n.Leaf() {
		return n
	}
	return nil
}

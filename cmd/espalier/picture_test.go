package main_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// hostile returns rows whose columns and classes have names that a page may stumble over.
func hostile(t *testing.T) string {
	t.Helper()
	names := []string{
		`<script>alert(1)</script>`, `"'& ]]> </text></svg>`, "two\nlines", "NUL \x00", "bidi \u202e\u2066",
		strings.Repeat("W", 10_000),
	}
	value := func(row, column int) int { return (row*(2*column+3) + row/7) % 97 }
	classes := make([]string, 600)
	for i := range classes {
		classes[i] = names[(value(i, 0)/25+value(i, 1)/33)%len(names)]
	}
	columns := []parquetio.WriteColumn{{Name: "class", Values: classes}}
	for k, name := range names {
		values := make([]float64, len(classes))
		for i := range values {
			values[i] = float64(value(i, k))
		}
		columns = append(columns, parquetio.WriteColumn{Name: name, Values: values})
	}
	return parquet(t, parquetio.WriteOptions{RowsPerGroup: 250}, columns...)
}

// pictures are the values of --picture.
func pictures() []string { return []string{"frontier", "roc", "calibration", "importance"} }

// checkSVG parses a drawing: no name brings an element in.
func checkSVG(t *testing.T, what, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: not XML: %v", what, err)
		}
		if e, ok := token.(xml.StartElement); ok &&
			!slices.Contains([]string{"svg", "title", "desc", "style", "rect", "text", "g", "path", "circle"}, e.Name.Local) {
			t.Errorf("%s: an element <%s>", what, e.Name.Local)
		}
	}
}

// TestPicture: each picture of runs with plain and with hostile names, on standard output and in
// a file, which is the same but for its first line.
func TestPicture(t *testing.T) {
	longtest.Skip(t)
	for name, input := range map[string]string{"plain": mixed(t, 600, parquetio.WriteOptions{}), "hostile": hostile(t)} {
		o, run := train(t, input, fewTrees()...)
		o.wants(t, 0)
		for _, what := range pictures() {
			svg := espalier(t, "show", run, "--picture", what)
			svg.wants(t, 0)
			checkSVG(t, name+" "+what, svg.stdout)
			if !strings.HasPrefix(svg.stdout, "<svg ") || !strings.Contains(svg.stdout, "<title>") {
				t.Errorf("%s: %.200s", what, svg.stdout)
			}
			file := filepath.Join(t.TempDir(), what)
			espalier(t, "show", run, "--picture", what, "--output", file).wants(t, 0)
			if got := string(read(t, file)); got != "<!-- espalier show -->\n"+svg.stdout {
				t.Errorf("%s: the file differs from standard output", what)
			}
		}
	}
}

// TestPictureRefuses: a run lacks a document, or a setting has no effect on the picture.
func TestPictureRefuses(t *testing.T) {
	input := mixed(t, 300, parquetio.WriteOptions{})
	o, run := train(t, input, "--select", "first", "--certificate", "none", "--split", "100/0/0")
	o.wants(t, 0)
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{nil, []string{"--model is required"}},
		{[]string{run, run}, []string{"unexpected argument"}},
		{[]string{run}, []string{run, "there is no frontier.json", "--select best"}},
		{[]string{run, "roc"}, []string{run, "no ROC curves", "no validation or test rows"}},
		{[]string{run, "curve"}, []string{"--picture curve: want frontier, roc, calibration or importance"}},
		{[]string{run, "calibration", "--format", "gif"}, []string{"--format gif: want text, rules or svg"}},
		{[]string{run, "calibration", "--format", "svg"}, []string{"--picture calibration is shown: leave out --format"}},
		{[]string{run, "calibration", "--width", "7"}, []string{"--width 7: want 100 pixels or more"}},
		{[]string{run, "calibration", "--width", "10001"}, []string{"--width 10001"}},
		{[]string{run, "calibration", "--class", "a"}, []string{"--class names a curve"}},
		{[]string{run, "calibration", "--depth", "3"}, []string{"leave out --depth"}},
		{[]string{run, "calibration", "--overwrite"}, []string{"--overwrite replaces the file of --output"}},
		{[]string{"nowhere"}, []string{"nowhere has no manifest.json"}},
		{[]string{filepath.Dir(input)}, []string{"has no manifest.json"}},
	} {
		args := slices.Clone(c.args)
		switch {
		case len(args) == 0, len(args) == 1:
			args = append(args, "--picture", "frontier")
		case args[1] != run:
			args = slices.Insert(args, 1, "--picture")
		}
		espalier(t, append([]string{"show"}, args...)...).wants(t, 2, c.words...)
	}
	espalier(t, "show", run, "--width", "300").wants(t, 2, "a tree is shown: leave out --width")
	espalier(t, "show", run, "--format", "png").wants(t, 2, "--format png: want text, rules or svg")
	espalier(t, "show", "nowhere", "--format", "svg").wants(t, 2, "nowhere")
}

// TestPictureClass: one class has one curve; an unknown one is refused with the list.
func TestPictureClass(t *testing.T) {
	o, run := train(t, mixed(t, 600, parquetio.WriteOptions{}), "--select", "first", "--certificate", "none")
	o.wants(t, 0)
	all, one := espalier(t, "show", run, "--picture", "roc"), espalier(t, "show", run, "--picture", "roc", "--class", "b")
	if a, b := strings.Count(all.stdout, "ec-curve"), strings.Count(one.stdout, "ec-curve"); a != 3 || b != 1 {
		t.Errorf("%d and %d curves, want 3 and 1", a, b)
	}
	espalier(t, "show", run, "--picture", "roc", "--class", "x").wants(t, 2, "no class is called x", "are a, b and c")
}

// TestPictureOutput: only a drawing of show is replaced, and only with --overwrite.
func TestPictureOutput(t *testing.T) {
	o, run := train(t, mixed(t, 300, parquetio.WriteOptions{}), "--select", "first", "--certificate", "none")
	o.wants(t, 0)
	folder := t.TempDir()
	file, foreign := filepath.Join(folder, "a.svg"), filepath.Join(folder, "b.svg")
	args := func(file string, more ...string) []string {
		return append([]string{"show", run, "--picture", "roc", "--output", file}, more...)
	}
	espalier(t, args(file)...).wants(t, 0)
	espalier(t, args(file)...).wants(t, 2, "--overwrite")
	espalier(t, args(file, "--overwrite")...).wants(t, 0)
	if err := os.WriteFile(foreign, []byte("<svg/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	espalier(t, args(foreign, "--overwrite")...).wants(t, 2, "no drawing of espalier show", "nothing is")
}

package source_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// asking returns a tree that asks for each feature in turn: the yes-branch is a leaf,
// the no-branch the next question.
func asking(features ...dataset.Feature) *tree.Tree {
	node := tree.Node{Rows: 2, Objects: 2, Weight: 2, ClassWeights: []int64{1, 1}, RawClassWeights: []int64{1, 1}}
	t := &tree.Tree{
		Label: tree.Label{Column: "class", Classes: []string{"n", "p"}}, Features: features, Nodes: []tree.Node{node},
	}
	for i := range features {
		asks, at := split.Test{Feature: i, Kind: split.Threshold, Code: 1}, len(t.Nodes)
		if features[i].Kind == dataset.Categorical {
			asks.Kind, asks.Code = split.Equals, 0
		}
		n := &t.Nodes[max(0, at-1)]
		n.Test = &tree.Test{Test: asks, Cost: 1}
		n.Branches = []tree.Branch{{Outcome: 1, Child: at}, {Outcome: 0, Child: at + 1, Missing: true, Other: true}}
		t.Nodes = append(t.Nodes, node, node)
	}
	t.Estimate(tree.Raw, 1)
	t.Measure()
	return t
}

func number(name string, unit dataset.Unit, span ...float64) dataset.Feature {
	return dataset.Feature{Name: name, Kind: dataset.Numeric, Unit: unit, Cuts: []float64{1}, Range: span, Cost: 1}
}

func category(name string, values ...string) dataset.Feature {
	return dataset.Feature{Name: name, Kind: dataset.Categorical, Values: values, Cost: 1}
}

// TestScoringSpec: by hand, the columns that a tree tests of a file with a column of
// each type.
func TestScoringSpec(t *testing.T) {
	in := open(t, begin(t), typesFile)
	asked := asking(
		number("float64", dataset.Plain), number("date", dataset.Date), category("string", "a", "b"),
		number("string", dataset.Plain), category("int8", "1", "2"), category("bool", "false", "true"),
		number("bool", dataset.Plain, 0, 1), number("null", dataset.Time),
	)
	got, err := source.ScoringSpec(in, asked, "dictionary", "int32", "")
	if err != nil {
		t.Fatal(err)
	}
	column := func(i int, kind dataset.ValueType) dataset.FeatureColumn {
		f := &asked.Features[i]
		return dataset.FeatureColumn{Name: f.Name, Kind: f.Kind, Type: kind, Unit: f.Unit}
	}
	want := &jobs.RowSpec{
		Label: "dictionary", Weight: "int32", Parting: dataset.Parting{Shares: dataset.Shares{dataset.Test: 1}},
		Features: []dataset.FeatureColumn{
			column(0, dataset.Number), column(1, dataset.Number), column(2, dataset.Text), column(3, dataset.Text),
			column(4, dataset.Number), column(5, dataset.Text), column(6, dataset.Text), column(7, dataset.Number),
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(jobs.RowSpec{})); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if got, err = source.ScoringSpec(in, asked, "", "float64", ""); err != nil || got.Weight != "float64" || got.Label != "" {
		t.Errorf("fractional weights, no label: %+v, %v", got, err)
	}
}

// TestScoringFaults: columns with other values than the tree's features.
func TestScoringFaults(t *testing.T) {
	in := open(t, begin(t), typesFile)
	for name, c := range map[string]struct {
		features []dataset.Feature
		want     dataset.DataError
	}{
		"missing":         {[]dataset.Feature{number("age", dataset.Plain)}, dataset.DataError{Column: "age", Problem: "the input lacks it", Hint: "add what is missing"}},
		"several missing": {[]dataset.Feature{number("age", dataset.Plain), category("job", "a")}, dataset.DataError{Problem: `needs the columns ["age" "job"] and the input lacks them`, Hint: "a tree that does without"}},
		"nested":          {[]dataset.Feature{number("list", dataset.Plain)}, dataset.DataError{Column: "list", Problem: "it is nested (a list, map or struct)", Hint: "as in training"}},
		"several nested":  {[]dataset.Feature{number("map", dataset.Plain), number("struct", dataset.Plain)}, dataset.DataError{Problem: `["map" "struct"] and they are nested`, Hint: "as in training"}},
		"another unit": {
			[]dataset.Feature{number("date", dataset.Timestamp)},
			dataset.DataError{Column: "date", Problem: "holds dates (INT32 DATE), the tree's feature is of timestamps", Hint: "train again"},
		},
		"a unit of an early tree": {
			[]dataset.Feature{number("time64", dataset.Plain)},
			dataset.DataError{Column: "time64", Problem: "holds times (INT64 TIME(isAdjustedToUTC=false,unit=MICROS)), the tree's feature is of numbers", Hint: "earlier versions do not know units"},
		},
		"numbers for texts": {
			[]dataset.Feature{category("float64", "red", "blue")},
			dataset.DataError{Column: "float64", Problem: `holds numbers (DOUBLE), the tree's feature is of texts, as "red"`, Hint: "write the column as texts"},
		},
		"floats for long codes": {
			[]dataset.Feature{category("float64", "1152921504606846976", "1152921504606846977")},
			dataset.DataError{Column: "float64", Problem: `(DOUBLE), which lack the last digits of values of the tree's feature, as "1152921504606846977"`, Hint: "INT64 or as texts"},
		},
		"booleans for numbers":        {[]dataset.Feature{number("bool", dataset.Plain, 2, 7.5)}, dataset.DataError{Column: "bool", Problem: "holds booleans, the tree's feature is of numbers from 2 to 7.5", Hint: "as in training"}},
		"booleans for dates":          {[]dataset.Feature{number("bool", dataset.Date, 0, 1)}, dataset.DataError{Column: "bool", Problem: "of dates from 1970-01-01 to 1970-01-02", Hint: "train again"}},
		"booleans for unknown ranges": {[]dataset.Feature{number("bool", dataset.Date)}, dataset.DataError{Column: "bool", Problem: "the tree's feature is of dates", Hint: "train again"}},
	} {
		_, err := source.ScoringSpec(in, asking(c.features...), "", "", "")
		c.want.File = typesFile
		wantData(t, name, err, c.want)
	}
	codes := []string{"9007199254740991", "1152921504606846976", "01152921504606846977", "x"}
	if _, err := source.ScoringSpec(in, asking(category("float64", codes...)), "", "", ""); err != nil {
		t.Errorf("codes that floats hold: %v", err)
	}
	one := asking(number("float64", dataset.Plain))
	_, err := source.ScoringSpec(in, one, "dictionry", "", "")
	wantUsage(t, "label", err, "--label: ", `did you mean "dictionary"?`)
	_, err = source.ScoringSpec(in, one, "", "int128", "")
	wantUsage(t, "weight", err, "--weight: ", `"int128"`)
}

// TestScoringOfSeveralFiles: files must agree on categories and on the label; numbers may be texts in some. Values of
// paths look like numbers where not all of training's were.
func TestScoringOfSeveralFiles(t *testing.T) {
	root := t.TempDir()
	for i, values := range []any{[]float64{1}, []string{"a"}} {
		folder := filepath.Join(root, []string{"day=1", "day=2"}[i])
		write(t, filepath.Join(folder, "a.parquet"), parquetio.WriteOptions{}, parquetio.WriteColumn{Name: "x", Values: values})
	}
	in := open(t, begin(t), root)
	if spec, err := source.ScoringSpec(in, asking(number("x", dataset.Plain)), "", "", ""); err != nil || spec.Features[0].Type != dataset.Number {
		t.Errorf("numbers and texts: %+v, %v", spec, err)
	}
	_, err := source.ScoringSpec(in, asking(category("x", "a")), "", "", "")
	wantData(t, "feature", err, dataset.DataError{File: "a.parquet", Column: "x", Problem: "holds texts here"})
	_, err = source.ScoringSpec(in, asking(number("day", dataset.Plain)), "x", "", "")
	wantData(t, "label", err, dataset.DataError{File: "a.parquet", Column: "x", Problem: "holds texts here", Hint: "write the column as one type in all files"})
	if _, err := source.ScoringSpec(in, asking(category("day", "all", "none")), "", "", ""); err != nil {
		t.Errorf("a column of the path: %v", err)
	}
}

// TestWarnOfNovelty: the share is of the rows that the sentence is about. Of 150 rows, 50 are outside of the range and 50 have
// no value, as a tenth of the training rows had.
func TestWarnOfNovelty(t *testing.T) {
	for _, c := range []struct {
		known, missing, unseen, outside int64
		want                            string
	}{
		{40, 50, 0, 50, `column "x": 33.3% of the rows have a value outside of the range`},
		{0, 50, 50, 50, `column "x": 33.3% of the rows have a value outside of the range`},
		{0, 60, 60, 50, `column "x": 40.0% of the rows have no value, and all training rows had one`},
		{40, 90, 0, 0, `column "x": 60.0% of the rows have no value, and 10.0% of the training rows had none`},
		{40, 15, 0, 15, ""},
	} {
		asked := asking(number("x", dataset.Plain, 0, 7))
		asked.Features[0].Missing = c.known
		asked.Training.Rows = 400
		counts := []dataset.Novelty{{Missing: c.missing, Unseen: c.unseen, Outside: c.outside}}
		got := ""
		source.WarnOfNovelty(func(text string) { got += text }, asked, source.Novelties(asked, counts, 150), 150)
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

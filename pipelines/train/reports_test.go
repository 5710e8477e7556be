package train_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
	"github.com/espalier-ml/espalier/transforms"
)

type reportFn struct{}

func (*reportFn) ProcessElement(r transforms.Report) ([]byte, error) { return json.Marshal(r) }

func init() { beam.RegisterDoFn(reflect.TypeFor[reportFn]()) }

// TestLibraryReports: the report of Train has the metrics that a run writes for the same rows, and the figures of
// `espalier evaluate --against` for its test rows; Reports does not change the tree.
func TestLibraryReports(t *testing.T) {
	longtest.Skip(t)
	const n = 600
	data := newRows(n)
	input := data.write(t, ascending(n), 2, parquetio.WriteOptions{RowsPerGroup: 100})
	for leafModel, weight := range map[selection.Kind]string{selection.None: "", selection.Linear: "weight"} {
		p := fewTrees(config.DefaultTrain())
		p.Input, p.Label, p.Group, p.Weight, p.Output, p.LeafModel = []string{input}, "class", "id", weight, t.TempDir(), leafModel
		p.Folds = crossvalidate.Setting{Number: 2}
		if weight == "" {
			p.Ignore = []string{"weight"}
		}
		r := runOf(t, p)
		earlier := p
		earlier.Output, earlier.MaxDepth = t.TempDir(), 2
		before := runOf(t, earlier)

		c := config.DefaultEvaluate()
		c.Model, c.Against, c.Input, c.Weight = earlier.Output, p.Output, p.Input, weight
		held, err := p.HeldOut()
		if err != nil {
			t.Fatal(err)
		}
		c.Held = held
		paired, err := pipelines.Compare(context.Background(), c, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		for _, runner := range []string{"direct", "prism"} {
			got := collect(t, runner, data.library(ascending(n)), func(s beam.Scope, rows beam.PCollection) beam.PCollection {
				tc := transforms.DefaultTrainConfig("class", "id")
				tc.Weight, tc.LeafModel, tc.Ignore = weight, leafModel, p.Ignore
				tc.Algorithm, tc.Lambda, tc.Theta, tc.Folds = p.Algorithm, p.Lambda, p.Theta, p.Folds
				found := transforms.Train(s, rows, tc, transforms.Reports{Against: before.Tree.Encode()})
				return beam.ParDo(s, &reportFn{}, found.Reports)
			})
			if len(got) != 1 {
				t.Fatalf("%d reports", len(got))
			}
			checkReport(t, got[0], r, paired.Metrics, paired.Flips.Share)
			checkDistribution(t, got[0], p.Output)
		}
	}
}

func runOf(t *testing.T, c config.Train) *train.Result {
	t.Helper()
	r, err := train.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func checkReport(t *testing.T, encoded []byte, r *train.Result, paired *metric.Paired, flips float64) {
	t.Helper()
	var got transforms.Report
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	if string(got.JSON) != string(r.Tree.Encode()) {
		t.Fatal("the tree of the report is not the tree of the run")
	}
	if _, err := tree.DecodeSchema(got.Schema); err != nil {
		t.Error(err)
	}
	same := func(what string, got, want any) {
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			t.Errorf("%s:\n%s\nwant\n%s", what, a, b)
		}
	}
	var m runfolder.Metrics
	for part, x := range got.Metrics {
		m.Set(dataset.Part(part), x)
	}
	same("training", m.Train, r.Metrics.Train)
	same("validation", m.Validation, r.Metrics.Validation)
	same("test", m.Test, r.Metrics.Test)
	same("comparison", got.Compared, paired)
	if got.Flips != flips || len(got.Choice) == 0 || got.Incomparable != "" {
		t.Errorf("flips %v, want %v; %d trees to choose from; %s", got.Flips, flips, len(got.Choice), got.Incomparable)
	}
}

// checkDistribution compares the features of a report, and the rows by their codes, with the documents of a run.
func checkDistribution(t *testing.T, encoded []byte, run string) {
	t.Helper()
	var got transforms.Report
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	schema, err := tree.DecodeSchema(got.Schema)
	if err != nil {
		t.Fatal(err)
	}
	want, err := runfolder.Read(t.Context(), objectstore.New(), run, runfolder.Training, runfolder.SchemaName, runfolder.DistributionName)
	if err != nil {
		t.Fatal(err)
	}
	features := func(s *tree.Schema) (names []string) {
		for i := range s.Columns {
			if s.Columns[i].Feature != nil {
				names = append(names, s.Columns[i].Name)
			}
		}
		return names
	}
	if a, b := features(schema), features(want.Schema); !slices.Equal(a, b) {
		t.Errorf("the features are %q, want %q", a, b)
	}
	for _, c := range want.Distribution.Columns {
		if !slices.Equal(got.Own.Codes[c.Column], c.Rows) {
			t.Errorf("rows of %s by code: %v, want %v", c.Column, got.Own.Codes[c.Column], c.Rows)
		}
	}
}

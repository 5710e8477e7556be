package jobs_test

import (
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/jobs"
	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

func TestSummarise(t *testing.T) {
	var first [][]byte
	for _, runner := range conformance.Runners() {
		for _, size := range []int{1000, 64, 7} {
			m := newMemory(t)
			tasks := put(conformance.NewTable(200), m, "rows.parquet", size)
			c := jobs.SummariseConfig{Config: config(2), Rows: spec().Encode(), Limits: limits(), Pieces: 2}
			if err := runJob(t, runner, tasks,
				func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, c) }); err != nil {
				t.Fatal(err)
			}
			stats, encoded, err := jobs.ReadSummaries(inRun(t), "out", c.Columns(2))
			if err != nil {
				t.Fatal(err)
			}
			if want := (jobs.RowStats{Rows: 200, Train: 199, Dropped: 1}); *stats != want {
				t.Errorf("%s, %d: stats %+v, want %+v", runner, size, *stats, want)
			}
			if first == nil {
				first = encoded
			}
			if diff := cmp.Diff(first, encoded); diff != "" {
				t.Errorf("%s, row groups of %d: other summaries (-first +now):\n%s", runner, size, diff)
			}
			s, _, err := binning.Decode(encoded[2])
			if err != nil {
				t.Fatal(err)
			}
			classes, _, err := binning.FitCategorical(s, 10, 0)
			if diff := cmp.Diff([]string{"no", "yes"}, classes); err != nil || diff != "" {
				t.Errorf("classes (-want +got): %v\n%s", err, diff)
			}
		}
	}
}

func TestNullLabelIsADataError(t *testing.T) {
	for _, runner := range conformance.RunnersOfFailures() {
		m := newMemory(t)
		tasks := put(conformance.NewTable(200), m, "rows.parquet", 64)
		rows := spec()
		rows.DropNullLabels = false
		c := jobs.SummariseConfig{Config: config(2), Rows: rows.Encode(), Limits: limits()}
		err := runJob(t, runner, tasks, func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, c) })
		if err == nil {
			t.Fatalf("%s: no error", runner)
		}
		e, ok := dataset.ParseError(err.Error())
		if !ok {
			t.Fatalf("%s: no data error in %v", runner, err)
		}
		if e.File != "rows.parquet" || e.Column != "label" || e.RowGroup == nil || *e.RowGroup != 0 ||
			!strings.Contains(e.Problem, "row 3") {
			t.Errorf("%s: %v", runner, e)
		}
	}
}

func TestCoalesce(t *testing.T) {
	features := []dataset.Feature{
		{Name: "number", Kind: dataset.Numeric, Cuts: []float64{2.5, 5, 7.5}},
		{Name: "text", Kind: dataset.Categorical, Values: []string{"a", "b", "c", "e"}},
	}
	data := conformance.NewTable(200)
	want := make(map[[2]int][2]int64) // codes -> weight by class
	encoders := []*dataset.Encoder{dataset.NewEncoder(&features[0]), dataset.NewEncoder(&features[1])}
	layout := dataset.NewLayout(features)
	keys := make([]byte, 200*layout.Stride)
	encoders[0].Encode(&dataset.Vector{Type: dataset.Number, Numbers: data.Number}, keys, 0, 2, nil)
	encoders[1].Encode(texts(data.Text), keys, 1, 2, nil)
	for r, label := range data.Label {
		if label == "" {
			continue
		}
		w := want[[2]int{int(keys[2*r]), int(keys[2*r+1])}]
		w[map[string]int{"no": 0, "yes": 1}[label]]++
		want[[2]int{int(keys[2*r]), int(keys[2*r+1])}] = w
	}
	for _, runner := range conformance.Runners() {
		for _, size := range []int{1000, 7} {
			m := newMemory(t)
			tasks := put(data, m, "rows.parquet", size)
			c := jobs.CoalesceConfig{
				Config: config(2), Rows: spec().Encode(), Features: dataset.EncodeFeatures(features),
				Classes: []string{"no", "yes"}, Shards: 64,
			}
			if err := runJob(t, runner, tasks,
				func(s beam.Scope, tasks beam.PCollection) { jobs.Coalesce(s, tasks, c) }); err != nil {
				t.Fatal(err)
			}
			stats, err := jobs.ReadObjectStats(inRun(t), &c)
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[[2]int][2]int64)
			for _, url := range stats[dataset.Train].Blocks {
				o := dataset.NewObjects(layout, 2, false, 0)
				if err := o.AppendFrom(m.files[url], layout); err != nil {
					t.Fatal(err)
				}
				for i := range o.Len() {
					var w [2]int64
					for _, cw := range o.Raw(i) {
						w[cw.Class] = cw.Weight
					}
					got[[2]int{o.Codes[0].At(i), o.Codes[1].At(i)}] = w
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, row groups of %d: objects (-want +got):\n%s", runner, size, diff)
			}
			if train := stats[dataset.Train]; train.Rows != 199 || train.Objects != int64(len(want)) {
				t.Errorf("%s: %d rows, %d objects, want 199 and %d", runner, train.Rows, train.Objects, len(want))
			}
		}
	}
}

// A row group that is cut into pieces, and tables that are sent early, change nothing.
func TestCoalescePieces(t *testing.T) {
	features := []dataset.Feature{
		{Name: "number", Kind: dataset.Numeric, Cuts: []float64{2.5, 5, 7.5}},
		{Name: "text", Kind: dataset.Categorical, Values: []string{"a", "b", "c", "e"}},
	}
	const rows = 300_000
	if jobs.RowPieces(rows) < 2 {
		t.Fatal("one piece: use more rows")
	}
	data := conformance.NewTable(rows)
	var want *jobs.ObjectStats
	two := jobs.Config{Workers: 2, Out: "out"}
	for _, c := range []jobs.CoalesceConfig{
		{Config: jobs.Config{Workers: 1, Out: "out"}, Pieces: rows}, // Pieces has the size of the row groups
		{Config: two, Pieces: 50_000},
		{Config: two, Pieces: rows, Memory: 1, Spill: "spill"},
		{Config: two, Pieces: 50_000, Memory: 1},
	} {
		m := newMemory(t)
		tasks := put(data, m, "rows.parquet", c.Pieces)
		c.Rows, c.Features, c.Classes = spec().Encode(), dataset.EncodeFeatures(features), []string{"no", "yes"}
		c.Run, c.Shards, c.Pieces = run.Name(), 3, 2
		if err := runJob(t, "direct", tasks,
			func(s beam.Scope, tasks beam.PCollection) { jobs.Coalesce(s, tasks, c) }); err != nil {
			t.Fatal(err)
		}
		stats, err := jobs.ReadObjectStats(inRun(t), &c)
		if err != nil {
			t.Fatal(err)
		}
		got := &stats[dataset.Train]
		got.Blocks = nil
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || got.Rows < rows*9/10 {
			t.Errorf("%+v: statistics (-want +got):\n%s", c, diff)
		}
	}
}

package jobs

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/weighing"
)

// vectors is a row group of decoded columns.
type vectors []dataset.Vector

func (v vectors) Rows() int { return v[0].Rows() }

func (v vectors) ReadColumn(i int, dst *dataset.Vector) error {
	*dst = v[i]
	return nil
}

func (v vectors) ReadRows(i, from, to int, dst *dataset.Vector) error {
	*dst = v[i]
	if dst.Index != nil {
		dst.Index = dst.Index[from:to]
	} else {
		dst.Numbers = dst.Numbers[from:to]
	}
	return nil
}

func (vectors) PageRows() int { return 0 }

func (vectors) Close() error { return nil }

// groupOf returns a row group of a file that spec describes.
func groupOf(spec *RowSpec, columns ...dataset.Vector) *rowGroup {
	v := vectors(columns)
	g := newRowGroup(v, spec, Task{File: "folder/a.parquet", RowGroup: 3})
	g.parts = make([]dataset.Part, v.Rows())
	return g
}

func textsOf(values ...string) dataset.Vector {
	v := dataset.Vector{Type: dataset.Text, Texts: values}
	for i := range values {
		v.Index = append(v.Index, int32(i))
	}
	return v
}

func numbersOf(values ...float64) dataset.Vector {
	return dataset.Vector{Type: dataset.Number, Numbers: values}
}

// assigned returns the parts of the rows of a column.
func assigned(t *testing.T, spec *RowSpec, v dataset.Vector) []dataset.Part {
	t.Helper()
	g := groupOf(spec, v)
	if err := g.assignParts(&columnReader{g: g}); err != nil {
		t.Fatal(err)
	}
	return g.parts
}

// TestAssignParts: a column names the parts, else all rows are of one, else a hash decides:
// of the key, so that equal keys stay together, or of the place in the file.
func TestAssignParts(t *testing.T) {
	named := textsOf("test", "train", "validation", "train")
	want := []dataset.Part{dataset.Test, dataset.Train, dataset.Validation, dataset.Train}
	if got := assigned(t, &RowSpec{Parting: dataset.Parting{SplitColumn: "part"}}, named); !slices.Equal(got, want) {
		t.Errorf("parts %v, want %v", got, want)
	}
	whole := &RowSpec{Parting: dataset.Parting{Shares: dataset.Shares{dataset.Validation: 1}}}
	if got := assigned(t, whole, numbersOf(1, 2)); !slices.Equal(got, []dataset.Part{dataset.Validation, dataset.Validation}) {
		t.Errorf("parts %v, want validation alone", got)
	}
	halves := dataset.Shares{dataset.Train: 1, dataset.Test: 1}
	spec := &RowSpec{Parting: dataset.Parting{Shares: halves, Seed: 7}}
	const n = 2000
	place := assigned(t, spec, numbersOf(make([]float64, n)...))
	for _, parts := range [][]dataset.Part{place, assigned(t, &RowSpec{Parting: dataset.Parting{Shares: halves, Key: "id"}}, numbersOf(counted(n)...))} {
		train := 0
		for _, p := range parts {
			if p == dataset.Train {
				train++
			}
		}
		if math.Abs(float64(train)-n/2) > 6*math.Sqrt(n)/2 { // six deviations: one in 5e8
			t.Errorf("%d of %d rows are to train, want about a half", train, n)
		}
	}
	keyed := &RowSpec{Parting: dataset.Parting{Shares: halves, Seed: 7, Key: "id"}}
	for i := range 50 {
		key := strings.Repeat("k", i)
		missing := dataset.Vector{Type: dataset.Text, Texts: []string{key}, Index: []int32{0, 0, -1}}
		parts := assigned(t, keyed, missing)
		if parts[0] != parts[1] || parts[2] != assigned(t, keyed, textsOf(""))[0] {
			t.Errorf("key %q: parts %v", key, parts)
		}
		x := float64(i)
		indexed := dataset.Vector{Type: dataset.Number, Numbers: []float64{x}, Index: []int32{0}}
		if assigned(t, keyed, numbersOf(x))[0] != assigned(t, keyed, indexed)[0] {
			t.Errorf("key %v has another part in a dictionary", x)
		}
	}
	moved := groupOf(spec, numbersOf(make([]float64, n)...))
	moved.task.File = "gs://bucket/elsewhere/a.parquet"
	if err := moved.assignParts(&columnReader{g: moved}); err != nil || !slices.Equal(moved.parts, place) {
		t.Errorf("a data set that has moved is split otherwise: %v", err)
	}
	if baseName("a.parquet") != "a.parquet" {
		t.Error("a name without folders")
	}
	g := groupOf(&RowSpec{Parting: dataset.Parting{SplitColumn: "part"}}, textsOf("train", "tset"))
	err := g.assignParts(&columnReader{g: g})
	if err == nil || !strings.Contains(err.Error(), `row 1 names no part, expected train, validation or test (value "tset")`) {
		t.Errorf("a part by another name: %v", err)
	}
}

// TestTimes: by hand. Of ten rows seven are to train, one is to validate and two are to test; rows of one time
// are in one part. Without a share a part has no rows.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		shares dataset.Shares
		times  []float64
		rows   []int64
		want   []dataset.Part // by time
	}{
		{dataset.Shares{70, 10, 20}, []float64{1, 2, 3, 4}, []int64{7, 1, 1, 1}, []dataset.Part{0, 1, 2, 2}},
		{dataset.Shares{70, 10, 20}, []float64{1, 2, 3, 4}, []int64{6, 2, 1, 1}, []dataset.Part{0, 0, 2, 2}},
		{dataset.Shares{70, 10, 20}, []float64{-5, 5}, []int64{9, 1}, []dataset.Part{0, 2}},
		{dataset.Shares{70, 10, 20}, []float64{3}, []int64{10}, []dataset.Part{0}},
		{dataset.Shares{100, 0, 0}, []float64{1, 2}, []int64{5, 5}, []dataset.Part{0, 0}},
		{dataset.Shares{50, 0, 50}, []float64{1, 2}, []int64{5, 5}, []dataset.Part{0, 2}},
		{dataset.Shares{50, 50, 0}, []float64{1, 2, 3}, []int64{5, 1, 4}, []dataset.Part{0, 1, 1}},
		{dataset.Shares{1, 1, 1}, []float64{1, 2, 3}, []int64{1 << 60, 1 << 60, 1 << 60}, []dataset.Part{0, 1, 2}},
	} {
		p := &dataset.Parting{Time: "t", Shares: c.shares}
		p.CutTimes(c.times, c.rows)
		for i, x := range c.times {
			if got, _ := p.OfTime(x); got != c.want[i] {
				t.Errorf("%v of %v rows at %v: time %v is in %v, want %v", c.shares, c.rows, c.times, x, got, c.want[i])
			}
		}
	}
	g := groupOf(&RowSpec{Parting: dataset.Parting{Time: "t"}}, numbersOf(1, math.NaN()))
	if err := g.assignParts(&columnReader{g: g}); err == nil || !strings.Contains(err.Error(), "the time of row 1 is null or NaN") {
		t.Errorf("a row without a time: %v", err)
	}
}

// TestKeysInTime: by hand. A key has rows in the part of its first row only, in the bucket of that row; its later training
// rows are known.
func TestKeysInTime(t *testing.T) {
	p := &dataset.Parting{Time: "t", Key: "k", Shares: dataset.Shares{4, 4, 2}}
	p.CutTimes([]float64{1, 2, 3, 4, 5}, []int64{2, 2, 2, 2, 2}) // 1 and 2 train, 3 and 4 validate, 5 tests
	at := func(time float64) dataset.Place { return dataset.NewPlace(p.OfTime(time)) }
	for _, c := range []struct {
		own, first float64
		part       dataset.Part
		bucket     uint8
	}{
		{1, 1, dataset.Train, 0},
		{2, 2, dataset.Train, 2},
		{2, 1, dataset.Train, 3},
		{3, 3, dataset.Validation, 0},
		{4, 3, dataset.Validation, 0},
		{4, 4, dataset.Validation, 2},
		{4, 2, dataset.None, 0},
		{5, 4, dataset.None, 0},
		{5, 5, dataset.Test, 0},
	} {
		if part, bucket := dataset.OfKeyAt(at(c.own), at(c.first)); part != c.part || bucket != c.bucket {
			t.Errorf("time %v of a key from %v: %v, bucket %d, want %v, %d", c.own, c.first, part, bucket, c.part, c.bucket)
		}
	}
}

// counted returns the numbers from 0 on.
func counted(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

// TestCountWeights: by hand, in quarters of training rows and halves of test rows.
func TestCountWeights(t *testing.T) {
	spec := &RowSpec{Weight: "w", Parting: dataset.Parting{SplitColumn: "part"}, Rule: weighing.Rule{
		Units: &[dataset.Parts]dataset.WeightUnit{dataset.Train: {Size: 0.25}, dataset.Test: {Size: 0.5}},
	}}
	g := groupOf(spec, numbersOf(0, 1, 0.25, 1e9, 1), textsOf("train", "train", "train", "train", "test"))
	if err := g.prepare(); err != nil || g.ignored != 1 {
		t.Errorf("%d ignored, %v", g.ignored, err)
	}
	if diff := cmp.Diff([]int64{0, 4, 1, 4e9, 2}, g.weights); diff != "" || g.weight(1) != 4 {
		t.Errorf("weights (-want +got):\n%s", diff)
	}
	if plain := groupOf(&RowSpec{}, numbersOf(1)); plain.weight(0) != 1 {
		t.Error("a row without a weight weighs other than 1")
	}
	for want, v := range map[string]dataset.Vector{
		"the weights are text, expected numbers": textsOf("1"), "the weight of row 0 is null or NaN": numbersOf(math.NaN()),
		"the weight of row 1 is out of range": numbersOf(1, -1), "the weight of row 0 is out of range": numbersOf(1e201),
		"the weight of row 1 is too small to be counted next to the weights of the other rows, expected 0 or at least 0.125": numbersOf(1, 0.1),
	} {
		g := groupOf(&RowSpec{Weight: "w", Parting: dataset.Parting{Shares: dataset.Shares{dataset.Train: 1}}, Rule: weighing.Rule{Units: spec.Units}}, v)
		err := g.prepare()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `folder/a.parquet, row group 3, column "w"`) {
			t.Errorf("%v, want %q with its place", err, want)
		}
	}
	if err := groupOf(&RowSpec{Weight: "w", Parting: dataset.Parting{Shares: dataset.Shares{1}}}, numbersOf(1)).prepare(); err == nil {
		t.Error("weights without units are counted")
	}
}

// TestFeature: texts become numbers or points in time where a feature is one.
func TestFeature(t *testing.T) {
	number := dataset.FeatureColumn{Name: "x", Kind: dataset.Numeric, Type: dataset.Text}
	date := dataset.FeatureColumn{Name: "x", Kind: dataset.Numeric, Type: dataset.Text, Unit: dataset.Date}
	for _, c := range []struct {
		feature dataset.FeatureColumn
		column  dataset.Vector
		want    []float64
		fault   string
	}{
		{number, textsOf("1.5", "true", "false", ""), []float64{1.5, 1, 0, math.NaN()}, ""},
		{date, textsOf("1970-01-02", ""), []float64{1, math.NaN()}, ""}, // days since 1970
		{number, textsOf("1", "much"), nil, `not a number, and the feature is numeric (value "much"); write a number or null there`},
		{date, textsOf("soon"), nil, `not a date, and the feature is one (value "soon"); write it as 2026-11-21, or null`},
	} {
		g := groupOf(&RowSpec{Features: []dataset.FeatureColumn{c.feature}}, c.column)
		var got dataset.Vector
		err := g.feature(0, &got)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%v, want %q", err, c.fault)
			}
			continue
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if err != nil || got.Type != dataset.Number || !slices.EqualFunc(got.Numbers, c.want, same) {
			t.Errorf("%+v, %v, want %v", got, err, c.want)
		}
	}
	nulls := groupOf(&RowSpec{Features: []dataset.FeatureColumn{{Name: "x", Kind: dataset.Categorical, Type: dataset.Text}}}, numbersOf(math.NaN()))
	var got dataset.Vector
	if err := nulls.feature(0, &got); err != nil || got.Type != dataset.Text {
		t.Errorf("a column without values beside texts: %+v, %v", got, err)
	}
}

// TestShards: by hand, 64 MiB of keys and counts a shard, from 64 to 4096 shards.
func TestShards(t *testing.T) {
	for _, c := range []struct {
		rows   int64
		stride int
		want   int
	}{{1, 1, 64}, {64 << 20, 92, 100}, {1 << 40, 10, 4096}} {
		if got := Shards(c.rows, c.stride); got != c.want {
			t.Errorf("%d rows of %d bytes: %d shards, want %d", c.rows, c.stride, got, c.want)
		}
	}
	if heldBytes(true) >= heldBytes(false) {
		t.Error("jobs that may spill hold no fewer bytes")
	}
}

// TestRun: DoFns find their run by its name until it is closed.
func TestRun(t *testing.T) {
	files := NewFiles(DefaultFilesConfig())
	r := NewRun(files, FilesConfig{ReadAhead: 5})
	ctx, err := r.Name().Enter(context.Background())
	if err != nil || progressOf(ctx) != r.Progress() {
		t.Errorf("%v, want the run's own progress", err)
	}
	if s, err := OpenStorage(ctx); err != nil || s != Storage(files) {
		t.Errorf("storage %v of the run, %v", s, err)
	}
	r.Close()
	if _, err := r.Name().Enter(context.Background()); err == nil || !strings.Contains(err.Error(), "the run of this job has ended") {
		t.Errorf("after its end: %v", err)
	}
}

// TestOpenFiles: workers open the storage of a run once, by its settings.
func TestOpenFiles(t *testing.T) {
	opened := make(map[Storage]bool)
	for _, name := range []RunName{
		{},
		{Process: "another", Number: 1, Files: &FilesConfig{ReadAhead: 5, Timeout: 0.5}},
		{Process: "another", Number: 2, Files: &FilesConfig{ReadAhead: 5, Timeout: 0.5}},
	} {
		for range 2 {
			ctx, err := name.Enter(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			s, err := OpenStorage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			opened[s] = true
		}
	}
	if len(opened) != 3 {
		t.Errorf("three runs have opened %d storages", len(opened))
	}
}

// The pieces of a row group have the parts and the weights of the whole.
func TestPieces(t *testing.T) {
	const rows = 3*pieceRows + 5
	label := textsOf("a", "b")
	label.Index = make([]int32, rows)
	weight := dataset.Vector{Type: dataset.Number, Numbers: make([]float64, rows)}
	for r := range rows {
		label.Index[r], weight.Numbers[r] = int32(r%3)-1, float64(r%5)
	}
	spec := &RowSpec{
		Label: "label", Weight: "weight", Parting: dataset.Parting{Shares: dataset.Shares{70, 10, 20}, Seed: 3}, DropNullLabels: true,
		Rule: weighing.Rule{Units: &[dataset.Parts]dataset.WeightUnit{{Size: 1}, {Size: 1}, {Size: 1}}},
	}
	whole := groupOf(spec, label, weight)
	if err := whole.prepare(); err != nil {
		t.Fatal(err)
	}
	var parts []dataset.Part
	var weights []int64
	var dropped, ignored int64
	for _, piece := range whole.pieces() {
		if err := piece.prepare(); err != nil {
			t.Fatal(err)
		}
		if piece.Rows() != len(piece.parts) || piece.Rows() < pieceRows {
			t.Errorf("a piece of %d rows with %d parts, expected at least %d", piece.Rows(), len(piece.parts), pieceRows)
		}
		parts, weights = append(parts, piece.parts...), append(weights, piece.weights...)
		dropped, ignored = dropped+piece.dropped, ignored+piece.ignored
	}
	if !slices.Equal(parts, whole.parts) || !slices.Equal(weights, whole.weights) {
		t.Error("the pieces have other parts or weights than the whole row group")
	}
	if dropped != whole.dropped || ignored != whole.ignored || dropped == 0 || ignored == 0 {
		t.Errorf("dropped %d and ignored %d, expected %d and %d", dropped, ignored, whole.dropped, whole.ignored)
	}
}

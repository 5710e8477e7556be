package tallies_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tallies"
	"github.com/espalier-ml/espalier/induce/train"
	"github.com/espalier-ml/espalier/induce/tree"
)

// visit is a row. Its part is in a column, or follows from its patient.
type visit struct {
	Age     *float64 `json:"age"`
	Plan    *string  `json:"plan"`
	Smoker  bool     `json:"smoker"`
	Class   *string  `json:"class"`
	Weight  float64  `json:"weight"`
	Patient int      `json:"patient"`
	Part    string   `json:"part"`
}

// visits returns rows with ties, missing values, rows of weight 0, and rows without a label.
func visits(random *rand.Rand, n int) []visit {
	rows := make([]visit, n)
	for i := range rows {
		age, plan := float64(random.IntN(80))/2, []string{"", "basic", "full", "über"}[random.IntN(4)]
		v := visit{
			Smoker: random.IntN(3) == 0, Weight: []float64{0, 0.5, 1, 2.25}[random.IntN(4)], Patient: random.IntN(n / 4),
			Part: []string{"train", "train", "train", "validation", "test"}[random.IntN(5)],
		}
		if random.IntN(10) > 0 {
			v.Age = &age
		}
		if random.IntN(10) > 0 {
			v.Plan = &plan
		}
		class := "well"
		if (age > 25) != (random.IntN(8) == 0) && plan != "full" {
			class = "ill"
		}
		if random.IntN(50) > 0 {
			v.Class = &class
		}
		rows[i] = v
	}
	return rows
}

// ways returns settings by which rows are divided, weighed and grouped.
func ways() map[string]func(s *settings.Settings) {
	return map[string]func(s *settings.Settings){
		"parts": func(s *settings.Settings) { s.SplitColumn, s.Ignore = "part", []string{"patient", "weight"} },
		"weights": func(s *settings.Settings) {
			s.SplitColumn, s.Weight, s.Ignore = "part", "weight", []string{"patient"}
		},
		"groups": func(s *settings.Settings) { s.Group, s.Ignore = "patient", []string{"part", "weight"} },
		"groups and weights": func(s *settings.Settings) {
			s.Group, s.Weight, s.Ignore = "patient", "weight", []string{"part"}
		},
	}
}

// spec returns checked settings.
func spec(t *testing.T, way func(s *settings.Settings)) *tallies.Spec {
	t.Helper()
	schema, err := rowtype.SchemaOf(reflect.TypeFor[visit]())
	if err != nil {
		t.Fatal(err)
	}
	s := settings.Default()
	s.Label, s.DropNullLabels = "class", true
	way(&s)
	bound := &tallies.Spec{Settings: s, Schema: schema}
	if err := bound.Bind(); err != nil {
		t.Fatal(err)
	}
	return bound
}

// count tallies rows.
func count(t *testing.T, s *tallies.Spec, rows []visit) []byte {
	t.Helper()
	e, err := tallies.NewEncoder(s)
	if err != nil {
		t.Fatal(err)
	}
	var tally dataset.Tally
	for i := range rows {
		weight, labelEnd, err := e.Encode(&rows[i], 0)
		switch {
		case err != nil:
			t.Fatal(err)
		case labelEnd == 0:
			tally.Dropped++
		case weight > 0:
			tally.Add(e.Key)
		}
	}
	return tally.AppendBinary(nil)
}

// TestMerge: tallies of rows in any order and in any division merge, in any order, to the tally of all rows.
func TestMerge(t *testing.T) {
	for name, way := range ways() {
		for seed := range uint64(20) {
			random := rand.New(rand.NewPCG(seed, 1))
			s, rows := spec(t, way), visits(random, 200)
			want := count(t, s, rows)
			random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			var list [][]byte
			for len(rows) > 0 {
				n := min(random.IntN(90), len(rows))
				list = append(list, count(t, s, rows[:n]))
				rows = rows[n:]
			}
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			if got, err := dataset.MergeTallies(list...); err != nil || string(got) != string(want) {
				t.Fatalf("%s, seed %d: %d tallies merge to other bytes (%v)", name, seed, len(list), err)
			}
		}
	}
}

// naive returns the objects of the rows of a part by its definition: for each vector of codes, the rows and the
// weight of each class. Rows are coded one after the other.
func naive(p *tallies.Plan, features []dataset.Feature, part dataset.Part, rows []visit, weighted bool) map[string]string {
	encoders, layout := dataset.NewEncoders(features), dataset.NewLayout(features)
	weights, counts := make(map[string][]int64), make(map[string]int64)
	for i := range rows {
		v := &rows[i]
		if v.Part != part.String() || v.Class == nil || weighted && v.Weight == 0 {
			continue
		}
		key := make([]byte, layout.Stride)
		for k := range features {
			var column dataset.Vector
			switch features[k].Name {
			case "age":
				column = dataset.Vector{Type: dataset.Number, Numbers: []float64{math.NaN()}}
				if v.Age != nil {
					column.Numbers[0] = *v.Age
				}
			case "plan":
				column = dataset.Vector{Type: dataset.Text, Index: []int32{-1}}
				if v.Plan != nil {
					column.Texts, column.Index[0] = []string{*v.Plan}, 0
				}
			default:
				column = dataset.Vector{Type: dataset.Text, Texts: []string{strconv.FormatBool(v.Smoker)}, Index: []int32{0}}
			}
			encoders[k].Encode(&column, key, layout.Offsets[k], layout.Stride, nil)
		}
		weight := int64(1)
		if weighted {
			weight = p.Units[part].Of(v.Weight)
		}
		if weights[string(key)] == nil {
			weights[string(key)] = make([]int64, len(p.Classes))
		}
		weights[string(key)][slices.Index(p.Classes, *v.Class)] += weight
		counts[string(key)]++
	}
	objects := make(map[string]string)
	for key, w := range weights {
		objects[key] = fmt.Sprint(w, counts[key])
	}
	return objects
}

// TestObjects: the objects of a tally are the objects of the rows, grouped one by one.
func TestObjects(t *testing.T) {
	for _, name := range []string{"parts", "weights"} {
		for seed := range uint64(10) {
			s, rows := spec(t, ways()[name]), visits(rand.New(rand.NewPCG(seed, 2)), 300)
			tally := count(t, s, rows)
			p, _, err := s.FitTally(tally)
			if err != nil {
				t.Fatal(err)
			}
			features, err := dataset.DecodeFeatures(p.Encoded)
			if err != nil {
				t.Fatal(err)
			}
			tables, err := s.Code(tally, p)
			if err != nil {
				t.Fatal(err)
			}
			layout := dataset.NewLayout(features)
			for part := range dataset.Part(dataset.Parts) {
				got, o := make(map[string]string), tables[part].Objects(len(p.Classes))
				for i := range o.Len() {
					key := make([]byte, layout.Stride)
					for k := range features {
						code := o.Codes[k].At(i)
						key[layout.Offsets[k]] = byte(code)
						if layout.Widths[k] == 2 {
							key[layout.Offsets[k]+1] = byte(code >> 8)
						}
					}
					weights := make([]int64, len(p.Classes))
					for _, w := range o.Raw(i) {
						weights[w.Class] += w.Weight
					}
					got[string(key)] = fmt.Sprint(weights, o.RowsOf(i))
				}
				if want := naive(p, features, part, rows, name == "weights"); !maps.Equal(got, want) {
					t.Fatalf("%s, seed %d, %v: %d objects, want %d:\n%v\n%v", name, seed, part, len(got), len(want), got, want)
				}
			}
		}
	}
}

// grown returns the tree of the rows of tallies, which are merged in the given order.
func grown(t *testing.T, s *tallies.Spec, list ...[]byte) *tree.Tree {
	t.Helper()
	tally, err := dataset.MergeTallies(list...)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := s.FitTally(tally)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := s.Code(tally, p)
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.Grow(t.Context(), &tables, p, 2, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return g.Tree
}

// TestTrees: the tree of tallies in any order has the bytes of the tree of the rows in memory.
func TestTrees(t *testing.T) {
	for name, way := range ways() {
		s, rows := spec(t, way), visits(rand.New(rand.NewPCG(3, 3)), 600)
		want, _, err := train.Train(t.Context(), rows, s.Settings)
		if err != nil {
			t.Fatal(err)
		}
		got := grown(t, s, count(t, s, rows[400:]), count(t, s, rows[:100]), count(t, s, rows[100:400]))
		if string(got.Encode()) != string(want.Encode()) || len(want.Nodes) < 3 {
			t.Errorf("%s: another tree than in memory, which has %d nodes", name, len(want.Nodes))
		}
	}
}

// TestRefusals: the error of a row names the column and the value.
func TestRefusals(t *testing.T) {
	class, other := "well", "dead"
	for name, c := range map[string]struct {
		change        func(s *tallies.Spec)
		row           visit
		column, value string
	}{
		"no label": {
			func(s *tallies.Spec) { s.Settings.DropNullLabels = false }, visit{Weight: 1, Part: "train"}, "class", "",
		},
		"another class": {
			func(s *tallies.Spec) { s.Classes = []string{"ill", "well"} }, visit{Class: &other, Weight: 1, Part: "train"}, "class", "dead",
		},
		"a negative weight": {func(*tallies.Spec) {}, visit{Class: &class, Weight: -2, Part: "train"}, "weight", "-2"},
		"an infinite weight": {
			func(*tallies.Spec) {}, visit{Class: &class, Weight: math.Inf(1), Part: "train"}, "weight", "+Inf",
		},
		"another part": {func(*tallies.Spec) {}, visit{Class: &class, Weight: 1, Part: "dev"}, "part", "dev"},
	} {
		s := spec(t, ways()["weights"])
		c.change(s)
		e, err := tallies.NewEncoder(s)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = e.Encode(&c.row, 0)
		if fault := new(dataset.DataError); !errors.As(err, &fault) || fault.Column != c.column ||
			!strings.EqualFold(fault.Value, c.value) {
			t.Errorf("%s: %v, want column %s and value %q", name, err, c.column, c.value)
		}
	}
}

// TestNoTrainingRows: a tally without training rows has no plan.
func TestNoTrainingRows(t *testing.T) {
	class := "well"
	s := spec(t, ways()["parts"])
	p, sums, err := s.FitTally(count(t, s, []visit{{Class: &class, Part: "test"}, {Part: "train"}}))
	if p != nil || sums != nil || err != nil {
		t.Errorf("%v, %v, %v: want nothing", p, sums, err)
	}
}

// TestDamaged: a tally whose keys are cut or longer than the keys of an encoder is an error, and never a panic.
func TestDamaged(t *testing.T) {
	for name, way := range ways() {
		s, rows := spec(t, way), visits(rand.New(rand.NewPCG(4, 4)), 40)
		whole := count(t, s, rows)
		p, _, err := s.FitTally(whole)
		if err != nil {
			t.Fatal(err)
		}
		r, err := dataset.ReadTally(whole)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			for _, key := range [][]byte{nil, r.Key[:1], r.Key[:len(r.Key)-1], append(slices.Clone(r.Key), 0)} {
				var damaged dataset.Tally
				if len(key) > 0 && dataset.Part(key[0]) != dataset.Train {
					continue
				}
				damaged.Add(key)
				tally := damaged.AppendBinary(nil)
				if _, _, err := s.FitTally(tally); err == nil {
					t.Fatalf("%s: the key %x is taken for a row", name, key)
				}
				if _, err := s.Code(tally, p); err == nil {
					t.Fatalf("%s: the key %x is coded", name, key)
				}
			}
		}
	}
}

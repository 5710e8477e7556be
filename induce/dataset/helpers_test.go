package dataset_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// numeric returns a feature with the given number of bins and the cuts 1, 2, ...
func numeric(name string, bins int) dataset.Feature {
	f := dataset.Feature{Name: name, Kind: dataset.Numeric, Type: dataset.Number, Cost: 1}
	for b := 1; b < bins; b++ {
		f.Cuts = append(f.Cuts, float64(b))
	}
	return f
}

// categorical returns a feature with the values v0, v1, ...
func categorical(name string, values int) dataset.Feature {
	f := dataset.Feature{Name: name, Kind: dataset.Categorical, Type: dataset.Text, Cost: 1}
	for v := range values {
		f.Values = append(f.Values, fmt.Sprintf("v%d", v))
	}
	return f
}

// shape describes a random data set: its features, and the distribution of its rows.
type shape struct {
	name     string
	features []dataset.Feature
	distinct int // greatest number of different code vectors
	classes  int
	weighted bool
}

// shapes have from many rows per object to nearly one, and codes of one and two bytes.
func shapes() []shape {
	wide := make([]dataset.Feature, 60)
	for i := range wide {
		wide[i] = numeric("bins", 2+7*i%300) // features of 256 bins and more have codes of two bytes
	}
	return []shape{
		{"no features", nil, 1, 2, false},
		{"narrow", []dataset.Feature{numeric("x", 3)}, 5, 3, false},
		{"narrow and weighted", []dataset.Feature{categorical("job", 2)}, 4, 5, true},
		{
			"both widths",
			[]dataset.Feature{categorical("job", 4), numeric("many", 300), numeric("few", 254)},
			400, 2,
			true,
		},
		{"wide", wide, 150, 40, false},
		{"wide and weighted", wide, 2000, 300, true},
	}
}

// row is one row after coding.
type row struct {
	codes  []int
	class  uint16
	weight int64
}

// rows draws rows. One in twenty weighted rows weighs as much as all other rows together.
func (s *shape) rows(r *rand.Rand, n int) []row {
	vectors := make([][]int, s.distinct)
	for i := range vectors {
		vectors[i] = make([]int, len(s.features))
		for f := range s.features {
			vectors[i][f] = r.IntN(s.features[f].Codes())
		}
	}
	list := make([]row, n)
	for i := range list {
		list[i] = row{codes: vectors[r.IntN(len(vectors))], class: uint16(r.IntN(s.classes)), weight: 1}
		if s.weighted {
			list[i].weight = 1 + r.Int64N(1_000_000)
			if r.IntN(20) == 0 {
				list[i].weight = 1 << 50
			}
		}
	}
	return list
}

func (s *shape) layout() dataset.Layout { return dataset.NewLayout(s.features) }

// table coalesces rows.
func (s *shape) table(rows []row) *dataset.Table {
	t := dataset.NewTable(s.layout(), s.weighted)
	s.addTo(t, rows)
	return t
}

func (s *shape) addTo(t *dataset.Table, rows []row) {
	for i := range rows {
		key := s.key(rows[i].codes)
		t.Add(key, dataset.HashKey(key), rows[i].class, rows[i].weight, 1)
	}
}

// key writes codes in the form of Layout: side by side, two bytes from 257 codes on, the
// low byte first.
func (s *shape) key(codes []int) []byte {
	var key []byte
	for f, code := range codes {
		key = append(key, byte(code))
		if s.features[f].Codes() > 256 {
			key = append(key, byte(code>>8))
		}
	}
	return key
}

// noObjects returns empty objects of this shape.
func (s *shape) noObjects() *dataset.Objects {
	return dataset.NewObjects(s.layout(), s.classes, s.weighted, 0)
}

// decode reads blocks one after the other.
func (s *shape) decode(t *testing.T, blocks ...[]byte) *dataset.Objects {
	t.Helper()
	o := s.noObjects()
	for _, b := range blocks {
		if err := o.AppendFrom(b, s.layout()); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// object is one object as the glossary defines it.
type object struct {
	Codes  []int
	Class  uint16
	Weight int64
	Rows   int64
	Raw    []dataset.ClassWeight
}

// coalesce does the work of a Table by maps; the objects are in the order of the codes.
func coalesce(rows []row) []object {
	weights := make(map[string]map[uint16]int64)
	objects := make(map[string]*object)
	for _, r := range rows {
		key := fmt.Sprint(r.codes)
		if objects[key] == nil {
			objects[key] = &object{Codes: r.codes}
			weights[key] = make(map[uint16]int64)
		}
		objects[key].Rows++
		objects[key].Weight += r.weight
		weights[key][r.class] += r.weight
	}
	list := make([]object, 0, len(objects))
	for key, o := range objects {
		for class, weight := range weights[key] {
			o.Raw = append(o.Raw, dataset.ClassWeight{Class: class, Weight: weight})
		}
		slices.SortFunc(o.Raw, func(a, b dataset.ClassWeight) int { return int(a.Class) - int(b.Class) })
		o.Class = majority(o.Raw)
		list = append(list, *o)
	}
	slices.SortFunc(list, byCodes)
	return list
}

// majority returns the class of most weight; of equals, the first.
func majority(raw []dataset.ClassWeight) uint16 {
	best := raw[0]
	for _, cw := range raw {
		if cw.Weight > best.Weight || cw.Weight == best.Weight && cw.Class < best.Class {
			best = cw
		}
	}
	return best.Class
}

func byCodes(a, b object) int { return slices.Compare(a.Codes, b.Codes) }

// contents lists objects in their order.
func contents(o *dataset.Objects) []object {
	list := make([]object, o.Len())
	for i := range list {
		list[i] = object{Class: o.Class[i], Weight: o.Weight[i], Rows: o.RowsOf(i), Raw: o.Raw(i)}
		for f := range o.Codes {
			list[i].Codes = append(list[i].Codes, o.Codes[f].At(i))
		}
	}
	return list
}

// canonical returns objects in the order of their codes.
func canonical(o *dataset.Objects) *dataset.Objects {
	list := contents(o)
	ids := make([]int32, o.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Or(byCodes(list[a], list[b]), cmp.Compare(a, b)) })
	return o.Select(ids)
}

// checkObjects compares objects with what they should be, in this order.
func checkObjects(t *testing.T, got *dataset.Objects, want []object) {
	t.Helper()
	if list := contents(got); !slices.EqualFunc(list, want, object.equal) {
		t.Errorf("objects differ (-want +got):\n%s", gocmp.Diff(want, list, cmpopts.EquateEmpty()))
	}
}

// equal compares two objects. cmp.Diff would take seconds on thousands of objects.
func (o object) equal(p object) bool {
	return o.Class == p.Class && o.Weight == p.Weight && o.Rows == p.Rows && slices.Equal(o.Codes, p.Codes) &&
		slices.Equal(o.Raw, p.Raw)
}

// draw is a shape with a seeded source of random numbers.
type draw struct {
	*shape

	label string
	r     *rand.Rand
}

// draws lists a number of draws of each shape.
func draws(seeds uint64) []draw {
	var list []draw
	for _, s := range shapes() {
		for seed := range seeds {
			list = append(list, draw{
				&s, fmt.Sprintf("%s/seed %d", s.name, seed),
				rand.New(rand.NewPCG(seed, uint64(s.distinct))),
			})
		}
	}
	return list
}

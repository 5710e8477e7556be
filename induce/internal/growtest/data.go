// Package growtest draws random training sets for the tests of the growers, and
// compares trees.
package growtest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Data is a random training set.
type Data struct {
	Features []dataset.Feature
	Columns  []split.Column
	Objects  *dataset.Objects
	Total    int64
}

// Numeric returns a feature with this many bins, whose cuts are 1, 2, ...
func Numeric(name string, bins int, cost float64) dataset.Feature {
	f := dataset.Feature{Name: name, Kind: dataset.Numeric, Cost: cost}
	for b := 1; b < bins; b++ {
		f.Cuts = append(f.Cuts, float64(b))
	}
	return f
}

// Categorical returns a feature with the values v0, v1, ...
func Categorical(name string, values int, cost float64) dataset.Feature {
	f := dataset.Feature{Name: name, Kind: dataset.Categorical, Type: dataset.Text, Cost: cost}
	for v := range values {
		f.Values = append(f.Values, fmt.Sprintf("v%d", v))
	}
	return f
}

// SomeFeatures returns features of both kinds, with codes of one and two bytes and costs by value.
func SomeFeatures() []dataset.Feature {
	priced := Categorical("priced", 3, 2)
	priced.ValueCosts = map[string]float64{"v1": 0.5}
	return []dataset.Feature{
		Numeric("few", 4, 1), Categorical("job", 5, 1), priced, Numeric("many", 300, 3), Numeric("flag", 2, 1),
	}
}

// PricedFeatures returns SomeFeatures in two groups. The set-up of one group costs more than all
// tests together.
func PricedFeatures() []dataset.Feature {
	features := SomeFeatures()
	for f, group := range map[int]string{0: "lab", 1: "form", 2: "form", 3: "lab"} {
		features[f].Group = group
		features[f].GroupCost = map[string]float64{"lab": 20, "form": 0.3}[group]
	}
	return features
}

// Freely returns the same data, with free repeated tests of a feature.
func (d *Data) Freely() *Data {
	f := *d
	f.Columns = slices.Clone(d.Columns)
	for i := range f.Columns {
		f.Columns[i].FreeRepeats = true
	}
	return &f
}

// Unordered returns the same data, where nobody has ordered the absent values of most features.
func (d *Data) Unordered(r *rand.Rand) *Data {
	u := *d
	u.Columns = slices.Clone(d.Columns)
	u.Features = slices.Clone(d.Features)
	for i := range u.Columns {
		u.Columns[i].Unordered = r.IntN(3) > 0
		u.Features[i].Unordered = u.Columns[i].Unordered
	}
	return &u
}

// New generates random objects. Most codes are spread, and every third feature nearly always has
// the same code. Classes depend on the codes, except for noise.
func New(r *rand.Rand, features []dataset.Feature, classes, objects int, weighted bool) *Data {
	d := &Data{Features: features, Columns: split.Columns(features)}
	for f := range d.Columns {
		d.Columns[f].Prior = 1e-9 // few objects prove no effect of a value, and all sets are to compete
	}
	d.Objects = dataset.NewObjects(dataset.NewLayout(features), classes, weighted, objects)
	codes := make([]int, len(features))
	for range objects {
		class := 0
		for f := range features {
			codes[f] = r.IntN(features[f].Codes())
			if f%3 == 2 && r.IntN(10) > 0 {
				codes[f] = 1
			}
			class += codes[f] * 4 / features[f].Codes()
		}
		if r.IntN(4) == 0 {
			class = r.IntN(classes)
		}
		raw, rows := randomWeights(r, class%classes, classes, weighted)
		d.Objects.Append(codes, raw, rows)
	}
	d.Total = d.Objects.TotalWeight()
	return d
}

// randomWeights draws an object's class weights; one in fifty is heavy.
func randomWeights(r *rand.Rand, class, classes int, weighted bool) (raw []dataset.ClassWeight, rows int64) {
	for k := range classes {
		weight := int64(0)
		switch {
		case k == class:
			weight = int64(1 + r.IntN(3))
			if r.IntN(50) == 0 {
				weight = 100
			}
		case r.IntN(2*classes) == 0:
			weight = 1
		}
		if weight > 0 {
			raw = append(raw, dataset.ClassWeight{Class: uint16(k), Weight: weight})
			rows += weight
		}
	}
	if weighted {
		rows = int64(1 + r.IntN(5))
	}
	return raw, rows
}

// Grouped returns the same objects, in which each row has one of a few keys: the weight of a class
// in an object belongs to one key or two.
func (d *Data) Grouped(r *rand.Rand) *Data {
	g := *d
	weighted := d.Objects.Rows != nil
	g.Objects = dataset.NewObjects(dataset.NewLayout(d.Features), d.Objects.Classes, weighted, d.Objects.Len())
	g.Objects.KeepGroups()
	codes := make([]int, len(d.Features))
	for i := range d.Objects.Len() {
		for f := range codes {
			codes[f] = d.Objects.Codes[f].At(i)
		}
		shares := d.randomShares(r, i, weighted)
		slices.SortFunc(shares, func(a, b dataset.GroupShare) int {
			return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Class, b.Class))
		})
		for at := len(shares) - 1; at > 0; at-- { // shares with the same key and class are merged
			if a, b := &shares[at-1], shares[at]; a.Bucket == b.Bucket && a.Class == b.Class {
				a.Weight += b.Weight
				a.Rows += b.Rows
				shares = slices.Delete(shares, at, at+1)
			}
		}
		g.Objects.AppendGrouped(codes, shares)
	}
	return &g
}

// randomShares gives the weight of each class of an object to one key or two. If objects store rows
// in addition to their weights, the shares of the first class get the rows.
func (d *Data) randomShares(r *rand.Rand, object int, weighted bool) (shares []dataset.GroupShare) {
	const keys = 40
	for k, cw := range d.Objects.Raw(object) {
		first := int64(1) + r.Int64N(cw.Weight)
		for _, weight := range []int64{first, cw.Weight - first} {
			s := dataset.GroupShare{Bucket: dataset.Bucket(uint64(r.IntN(keys))), Class: cw.Class, Weight: weight, Rows: weight}
			if weighted {
				if s.Rows = 0; k == 0 && weight == first {
					s.Rows = d.Objects.RowsOf(object)
				}
			}
			if weight > 0 {
				shares = append(shares, s)
			}
		}
	}
	return shares
}

// Relabelled returns the same grouped objects, where rows of a bucket that are alone in their objects have
// exchanged their classes. Without such rows it returns nil.
func (d *Data) Relabelled(bucket uint8) (relabelled *Data, changed []int) {
	g := *d
	g.Objects = dataset.NewObjects(dataset.NewLayout(d.Features), d.Objects.Classes, d.Objects.Rows != nil, d.Objects.Len())
	g.Objects.KeepGroups()
	alone := func(i int) bool {
		s := d.Objects.Groups(i)
		return len(s) == 1 && s[0].Bucket == bucket && s[0].Weight == 1
	}
	var classes []uint16
	for i := range d.Objects.Len() {
		if alone(i) {
			changed, classes = append(changed, i), append(classes, d.Objects.Groups(i)[0].Class)
		}
	}
	slices.Reverse(classes)
	codes := make([]int, len(d.Features))
	at := 0
	other := false
	for i := range d.Objects.Len() {
		for f := range codes {
			codes[f] = d.Objects.Codes[f].At(i)
		}
		shares := slices.Clone(d.Objects.Groups(i))
		if alone(i) {
			other = other || shares[0].Class != classes[at]
			shares[0].Class = classes[at]
			at++
		}
		g.Objects.AppendGrouped(codes, shares)
	}
	if !other {
		return nil, nil
	}
	return &g, changed
}

// Softened returns the same data with soft objects: some or all of the weight of each object goes
// to other classes. Some objects have no rows.
func (d *Data) Softened(r *rand.Rand) *Data {
	const scale = 1 << 10
	s := *d
	s.Objects = dataset.NewObjects(dataset.NewLayout(d.Features), d.Objects.Classes, true, 0)
	s.Total = 0
	codes := make([]int, len(d.Features))
	classes := d.Objects.Classes
	for i := range d.Objects.Len() {
		for f := range codes {
			codes[f] = d.Objects.Codes[f].At(i)
		}
		left := scale * d.Objects.Weight[i]
		shares := make([]int64, classes)
		for range r.IntN(4) {
			share := r.Int64N(left + 1)
			shares[r.IntN(classes)] += share
			left -= share
		}
		shares[d.Objects.Class[i]] += left
		var raw []dataset.ClassWeight
		for k, share := range shares {
			if share > 0 {
				raw = append(raw, dataset.ClassWeight{Class: uint16(k), Weight: share})
			}
		}
		rows := d.Objects.RowsOf(i)
		if r.IntN(4) == 0 { // like the objects that a teacher makes up
			rows = 0
		}
		s.Objects.AppendSoft(codes, d.Objects.Labels(i), raw, rows)
		s.Total += scale * d.Objects.Weight[i]
	}
	return &s
}

// Rare returns the same data where nearly all objects have the same majority class, and rows of
// other classes that depend on the codes. Many nodes then have several classes of rows, and one
// class of objects.
func (d *Data) Rare(r *rand.Rand) *Data {
	s := *d
	codes := make([]int, len(d.Features))
	s.Objects = dataset.NewObjects(dataset.NewLayout(d.Features), d.Objects.Classes, d.Objects.Rows != nil, 0)
	s.Total = 0
	for i := range d.Objects.Len() {
		for f := range codes {
			codes[f] = d.Objects.Codes[f].At(i)
		}
		class := int(d.Objects.Class[i])
		rows := d.Objects.RowsOf(i)
		weights := make([]int64, d.Objects.Classes)
		weights[0] = int64(3 + r.IntN(6))
		if class > 0 {
			weights[class] = int64(r.IntN(3))
			if r.IntN(10) == 0 {
				weights[class] += 10
			}
		}
		var raw []dataset.ClassWeight
		for k, weight := range weights {
			if weight > 0 {
				raw = append(raw, dataset.ClassWeight{Class: uint16(k), Weight: weight})
			}
			s.Total += weight
		}
		s.Objects.Append(codes, raw, rows)
	}
	return &s
}

// Weighty returns the same data with the weights of each object multiplied by a factor of up to
// 1e9, all orders of magnitude equally often.
func (d *Data) Weighty(r *rand.Rand) *Data {
	w := *d
	codes := make([]int, len(d.Features))
	w.Objects = dataset.NewObjects(dataset.NewLayout(d.Features), d.Objects.Classes, true, d.Objects.Len())
	for i := range d.Objects.Len() {
		for f := range codes {
			codes[f] = d.Objects.Codes[f].At(i)
		}
		raw := slices.Clone(d.Objects.Raw(i))
		factor := int64(math.Pow(1e9, r.Float64()))
		for k := range raw {
			raw[k].Weight *= factor
		}
		w.Objects.Append(codes, raw, d.Objects.RowsOf(i))
	}
	w.Total = w.Objects.TotalWeight()
	return &w
}

// Shuffled returns the same objects in another order.
func (d *Data) Shuffled(r *rand.Rand) *Data {
	order := make([]int32, d.Objects.Len())
	for i, j := range r.Perm(len(order)) {
		order[i] = int32(j)
	}
	s := *d
	s.Objects = d.Objects.Select(order)
	return &s
}

// Grow grows a tree in memory.
func (d *Data) Grow(p induce.Params, workers int) []tree.Node {
	return tree.SumUp(inmemory.Grow(d.Objects, d.Columns, p, d.Total, inmemory.Options{Workers: workers}))
}

// Algorithms returns all algorithms.
func Algorithms() []split.Algorithm {
	return []split.Algorithm{
		split.EC45, split.ECART, split.ASR, split.C45, split.CART, split.CC45, split.CCART, split.IP, split.Bal,
	}
}

// Families returns the families of tests without sets of values, which the naive grower knows.
func Families() []split.Family {
	return []split.Family{split.OneHot, split.Thresholds, split.Both, split.Multiways}
}

// AllFamilies returns all families of tests.
func AllFamilies() []split.Family { return append(Families(), split.Sets, split.All) }

// Constrained returns the same data with constraints on some of the numeric features, and up to two
// features that must be tested first.
func (d *Data) Constrained(r *rand.Rand) *Data {
	w := *d
	w.Columns = slices.Clone(d.Columns)
	for i := range w.Columns {
		if w.Columns[i].Numeric {
			w.Columns[i].Monotone = int8(r.IntN(3) - 1)
		}
	}
	for depth, f := range r.Perm(len(w.Columns))[:r.IntN(3)] {
		w.Columns[f].First = depth + 1
	}
	return &w
}

// RandomParams returns random parameters, except the algorithm, the family and the classes.
func RandomParams(r *rand.Rand, a split.Algorithm, f split.Family) induce.Params {
	return induce.Params{
		Algorithm: a, Family: f,
		Lambda:   []float64{0.1, 1, 30}[r.IntN(3)],
		Theta:    []float64{0, 0.005, 0.05}[r.IntN(3)],
		MaxDepth: []int{0, 0, 3}[r.IntN(3)],
		MinRows:  []int64{0, 0, 15}[r.IntN(3)],
		Pricing:  RandomPricing(r),

		PathFeatures: []int{0, 0, 1, 2}[r.IntN(4)],
		PathCost:     []float64{0, 0, 1.5, 3}[r.IntN(4)],
		PathTests:    []int{0, 0, 1, 2}[r.IntN(4)],
		Selected:     randomSet(r),
		RootByCodes:  r.IntN(4) == 0,
		Once:         r.IntN(8) == 0,
	}
}

// randomSet returns a set of some features; empty in most cases.
func randomSet(r *rand.Rand) split.CodeSet {
	if r.IntN(4) > 0 {
		return ""
	}
	return split.NewCodeSet(8, func(int) bool { return r.IntN(2) > 0 })
}

// RandomPricing returns a method of counting prices, half of the time the method of the paper.
func RandomPricing(r *rand.Rand) split.Pricing {
	if r.IntN(2) == 0 {
		return split.Pricing{}
	}
	return split.Pricing{
		Prices: split.Prices(r.IntN(4)),
		SetUps: []split.SetUps{split.PaidSetUps, split.SharedSetUps, split.FreeSetUps}[r.IntN(3)],
	}
}

// Model makes a tree of grown nodes, with raw estimates.
func (d *Data) Model(nodes []tree.Node) *tree.Tree {
	m := tree.New(d.Features, nodes)
	for k := range d.Objects.Classes {
		m.Label.Classes = append(m.Label.Classes, strconv.Itoa(k))
	}
	if d.Columns[0].FreeRepeats {
		m.Algorithm.RepeatCost = tree.RepeatFree
	}
	m.Bill()
	m.Estimate(tree.Raw, 1)
	m.Measure()
	return m
}

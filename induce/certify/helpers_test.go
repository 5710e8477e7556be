package certify_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// instance is a small random data set with costs.
type instance struct {
	certify.Data

	opts  certify.Options
	total int64
}

// newInstance draws up to 10 objects over up to 3 features. Their costs are the costs of the paper,
// or have free repeats or groups.
func newInstance(r *rand.Rand, free, grouped bool) *instance {
	in := &instance{opts: certify.Options{
		Algorithm: split.EC45, Lambda: 1, Seed: r.Uint64(), RepeatFree: free,
		Family: []split.Family{split.OneHot, split.Thresholds, split.Both, split.Multiways, split.Sets, split.All}[r.IntN(6)],
		Theta:  []float64{0, 0, 0.05, 0.1, 0.2, 0.35}[r.IntN(6)],
	}}
	price := func() float64 { return 1 }
	switch r.IntN(3) {
	case 0:
		price = func() float64 { return float64(1 + r.IntN(6)) }
	case 1:
		price = func() float64 { return 0.3 + 4*r.Float64() }
	}
	groupCost := []float64{price(), price()}
	for f := range 1 + r.IntN(3) {
		feature := newFeature(r, f, price)
		if g := r.IntN(3); grouped && g < 2 {
			feature.Group, feature.GroupCost = fmt.Sprint("group", g), groupCost[g]
		}
		in.Features = append(in.Features, feature)
	}
	in.draw(r)
	return in
}

func newFeature(r *rand.Rand, number int, price func() float64) dataset.Feature {
	f := dataset.Feature{Name: fmt.Sprint("x", number), Kind: dataset.Numeric, Cost: price()}
	if r.IntN(2) == 0 {
		for b := range 1 + r.IntN(4) {
			f.Cuts = append(f.Cuts, float64(b))
		}
		return f
	}
	f.Kind, f.Type = dataset.Categorical, dataset.Text
	for v := range 1 + r.IntN(3) {
		f.Values = append(f.Values, fmt.Sprint("v", v))
		if r.IntN(4) == 0 {
			if f.ValueCosts == nil {
				f.ValueCosts = make(map[string]float64)
			}
			f.ValueCosts[f.Values[v]] = price()
		}
	}
	return f
}

func (in *instance) draw(r *rand.Rand) {
	classes := 2 + r.IntN(2)
	in.Objects = dataset.NewObjects(dataset.NewLayout(in.Features), classes, false, 10)
	codes := make([]int, len(in.Features))
	heaviest := []int{1, 4, 30}[r.IntN(3)]
	for range 2 + r.IntN(9) {
		for f := range codes {
			codes[f] = r.IntN(in.Features[f].Codes())
		}
		w := int64(1 + r.IntN(heaviest))
		in.total += w
		in.Objects.Append(codes, []dataset.ClassWeight{{Class: uint16(r.IntN(classes)), Weight: w}}, w)
	}
}

// question is a test with the outcome of each object.
type question struct {
	split.Test

	cost    float64
	outcome []int
}

// questions lists every test of the instance: see package split.
func (in *instance) questions() []question {
	var list []question
	for f := range in.Features {
		feature := &in.Features[f]
		add := func(kind split.Kind, code int, cost float64) {
			q := question{Test: split.Test{Feature: f, Kind: kind, Code: code}, cost: cost}
			for i := range in.Objects.Len() {
				q.outcome = append(q.outcome, q.Outcome(in.Objects.Codes[f].At(i), feature.MissingCode()))
			}
			list = append(list, q)
		}
		if feature.Kind == dataset.Categorical && in.opts.Family == split.Multiways {
			add(split.Multiway, 0, feature.Cost)
			continue
		}
		for code := range feature.Bins() {
			switch {
			case feature.Kind == dataset.Categorical:
				cost, ok := feature.ValueCosts[feature.Values[code]]
				if !ok {
					cost = feature.Cost
				}
				add(split.Equals, code, cost)
				continue
			case in.opts.Family.Thresholds() && code > 0:
				add(split.Threshold, code, feature.Cost)
			}
			if in.opts.Family.Bins() {
				add(split.Bin, code, feature.Cost)
			}
		}
		if feature.Kind == dataset.Categorical {
			add(split.Other, feature.OtherCode(), feature.Cost)
		}
		add(split.Missing, feature.MissingCode(), feature.Cost)
		if in.opts.Family.Sets(feature.Codes()) && feature.Kind == dataset.Categorical && len(feature.ValueCosts) == 0 {
			for set := range 1 << feature.MissingCode() {
				add(split.In, 0, feature.Cost)
				q := &list[len(list)-1]
				q.Set = split.NewCodeSet(feature.MissingCode(), func(code int) bool { return set>>code&1 == 1 })
				for i := range q.outcome {
					q.outcome[i] = q.Outcome(in.Objects.Codes[f].At(i), feature.MissingCode())
				}
			}
		}
	}
	return list
}

// state is what has been asked on a path: features and groups.
type state struct{ features, groups string }

// due returns what a test costs on a path, and the state after it.
func (in *instance) due(t *split.Test, cost float64, s state) (float64, state) {
	f := &in.Features[t.Feature]
	if in.opts.RepeatFree && len(f.ValueCosts) == 0 {
		if has(s.features, f.Name) {
			cost = 0
		}
		s.features = with(s.features, f.Name)
	}
	if f.Group != "" {
		if !has(s.groups, f.Group) {
			cost += f.GroupCost
		}
		s.groups = with(s.groups, f.Group)
	}
	return cost, s
}

// optimum computes the least expected cost by dynamic programming over the sets of
// objects and the states.
type optimum struct {
	*instance

	questions []question
	known     map[string]float64
}

func (in *instance) optimum() float64 {
	o := &optimum{in, in.questions(), make(map[string]float64)}
	return o.cost(1<<in.Objects.Len()-1, state{}) / float64(in.total)
}

func (o *optimum) cost(set int, s state) float64 {
	key := fmt.Sprint(set, s)
	if cost, ok := o.known[key]; ok {
		return cost
	}
	weight, homogeneous := o.look(set)
	if homogeneous || float64(weight) <= o.opts.Theta*float64(o.total)*(1+1e-9) {
		return 0
	}
	best := math.Inf(1)
	for i := range o.questions {
		q := &o.questions[i]
		parts := make(map[int]int)
		for i := range q.outcome {
			if set>>i&1 == 1 {
				parts[q.outcome[i]] |= 1 << i
			}
		}
		if len(parts) < 2 {
			continue
		}
		due, next := o.due(&q.Test, q.cost, s)
		sum := due * float64(weight)
		for outcome := range 10 { // codes are below 10
			if part, ok := parts[outcome]; ok {
				sum += o.cost(part, next)
			}
		}
		best = min(best, sum)
	}
	if math.IsInf(best, 1) {
		best = 0
	}
	o.known[key] = best
	return best
}

func (in *instance) look(set int) (weight int64, homogeneous bool) {
	class := -1
	homogeneous = true
	for i := range in.Objects.Len() {
		if set>>i&1 == 0 {
			continue
		}
		weight += in.Objects.Weight[i]
		if class >= 0 && class != int(in.Objects.Class[i]) {
			homogeneous = false
		}
		class = int(in.Objects.Class[i])
	}
	return weight, homogeneous
}

// greedy returns the expected cost of the tree that induce grows.
func (in *instance) greedy() float64 {
	p := induce.Params{
		Algorithm: in.opts.Algorithm, Family: in.opts.Family, Lambda: in.opts.Lambda,
		Theta: in.opts.Theta,
	}
	nodes := inmemory.Grow(in.Objects, split.Columns(in.Features), p, in.total, inmemory.Options{})
	return in.bill(nodes, 0, state{}) / float64(in.total)
}

func (in *instance) bill(nodes []tree.Node, at int, s state) float64 {
	n := &nodes[at]
	if n.Test == nil {
		return 0
	}
	due, next := in.due(&n.Test.Test, n.Test.Cost, s)
	cost := due * float64(n.Weight)
	for _, b := range n.Branches {
		cost += in.bill(nodes, b.Child, next)
	}
	return cost
}

// shuffled returns the same objects in another order.
func (in *instance) shuffled(r *rand.Rand) certify.Data {
	order := make([]int32, in.Objects.Len())
	for i, j := range r.Perm(len(order)) {
		order[i] = int32(j)
	}
	return certify.Data{Objects: in.Objects.Select(order), Features: in.Features}
}

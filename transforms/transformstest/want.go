package transformstest

import (
	"strconv"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/memory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
)

// want returns the tree that a window should have.
func (r *run) want(events, earlier []Event) []byte {
	r.Helper()
	c := trainConfig()
	switch {
	case r.config.Given:
		return r.grow(r.models[0], events, c)
	case r.config.Previous && len(earlier) > 0:
		return r.grow(Batch(r, earlier, c), events, c)
	default:
		return Batch(r, events, c)
	}
}

// grow grows a tree of events with the bins of another tree. It calls the kernels and no
// code of package transforms, so that it can serve as a check.
func (r *run) grow(bins []byte, events []Event, c transforms.TrainConfig) []byte {
	r.Helper()
	like, err := tree.Decode(bins)
	if err != nil {
		r.Fatal(err)
	}
	features := like.Features
	layout := dataset.NewLayout(features)
	table := dataset.NewTable(layout, false)
	key := make([]byte, layout.Stride)
	for i := range features {
		features[i].Missing, features[i].Other = 0, 0
	}
	for k := range events {
		e := &events[k]
		for i := range features {
			f := &features[i]
			v := e.vector(f.Name)
			dataset.NewEncoder(f).Encode(v, key, layout.Offsets[i], layout.Stride, nil)
			if v.Missing(0) {
				f.Missing++
			}
		}
		class := uint16(0)
		if e.Class == "stay" {
			class = 1
		}
		table.Add(key, dataset.HashKey(key), class, 1, 1)
	}
	o := dataset.NewObjects(layout, 2, false, table.Len())
	if err := o.AppendFrom(table.AppendBlock(nil, 0, table.Len()), layout); err != nil {
		r.Fatal(err)
	}
	p := induce.Params{
		Algorithm: split.EC45, Family: split.Thresholds, Lambda: c.Lambda[0], Theta: c.Theta[0], Classes: split.OfRows,
	}
	root := memory.Grow(o, split.Columns(features), p, int64(len(events)), memory.Options{})
	t, _ := induce.Model(root, features)
	t.Label, t.Algorithm = like.Label, like.Algorithm
	t.Training = tree.Training{Rows: int64(len(events)), Objects: int64(o.Len()), Weight: int64(len(events))}
	for i := range o.Len() {
		for _, cw := range o.Raw(i) {
			if cw.Class != o.Class[i] {
				t.Training.RelabelledRows += cw.Weight
			}
		}
	}
	t.Estimate(tree.Smoothed, 1)
	t.Measure()
	return t.Tested().Encode()
}

// vector returns the value of an event in a column.
func (e *Event) vector(column string) *dataset.Vector {
	text := func(s string) *dataset.Vector {
		return &dataset.Vector{Type: dataset.Text, Index: []int32{0}, Texts: []string{s}}
	}
	number := func(x *float64) *dataset.Vector {
		if x == nil {
			return &dataset.Vector{Type: dataset.Number, Index: []int32{-1}}
		}
		return &dataset.Vector{Type: dataset.Number, Numbers: []float64{*x}}
	}
	switch column {
	case "x":
		return number(&e.X)
	case "y":
		return number(e.Y)
	case "color":
		return text(e.Color)
	default:
		return text(strconv.FormatBool(e.Member))
	}
}

package forest

import "github.com/espalier-ml/espalier/induce/dataset"

// block is the number of objects that go through all trees together.
const block = 256

// OutOfBag returns class probabilities of the objects that the forest was grown from, Classes
// numbers for each object. They are the mean over the object's rows and over the trees that did
// not draw the row. If all trees drew all rows of an object, they are the mean over all trees.
// The result is nil if Stop returns true.
func (f *Forest) OutOfBag() []float32 { return f.rate(f.objects, f.left) }

// Probabilities returns class probabilities of other objects with the same features, Classes
// numbers for each object: the mean over all trees. It is nil if Stop returns true.
func (f *Forest) Probabilities(o *dataset.Objects) []float32 { return f.rate(o, nil) }

// left returns the weight of the rows of an object that a tree did not draw.
func (f *Forest) left(tree uint64, object int) float64 {
	d, sum := f.drawing, int64(0)
	for at := d.first[object]; at < d.first[object+1]; at++ {
		e := &d.entries[at]
		_, left := d.draw(tree, e)
		sum += int64(left) * int64(e.weight)
	}
	return float64(sum)
}

// rate returns class probabilities: means over the trees, weighted by weigh; nil: all trees have the
// same weight.
func (f *Forest) rate(o *dataset.Objects, weigh func(tree uint64, object int) float64) []float32 {
	classes := len(f.prior)
	out := make([]float32, o.Len()*classes)
	blocks := (o.Len() + block - 1) / block
	done := f.options.each(blocks, func(b int) {
		from, to := b*block, min((b+1)*block, o.Len())
		codes := codesOf(o, from, to)
		sums, weights := make([]float64, (to-from)*classes), make([]float64, to-from)
		f.sum(codes, from, weigh, sums, weights)
		if weigh != nil {
			f.fill(codes, sums, weights)
		}
		for i, whole := range weights {
			f.finish(sums[i*classes:(i+1)*classes], whole, out[(from+i)*classes:(from+i+1)*classes])
		}
	})
	if !done {
		return nil
	}
	return out
}

// codesOf returns the codes of the objects in [from, to), object by object.
func codesOf(o *dataset.Objects, from, to int) [][]uint16 {
	features := len(o.Codes)
	all, list := make([]uint16, (to-from)*features), make([][]uint16, to-from)
	for i := range list {
		list[i] = all[i*features : (i+1)*features]
	}
	for f := range o.Codes {
		if codes := o.Codes[f].U8; codes != nil {
			for i, code := range codes[from:to] {
				list[i][f] = uint16(code)
			}
		} else {
			for i, code := range o.Codes[f].U16[from:to] {
				list[i][f] = code
			}
		}
	}
	return list
}

// sum adds the shares of all trees to sums, and their weights to weights.
func (f *Forest) sum(codes [][]uint16, from int, weigh func(uint64, int) float64, sums, weights []float64) {
	classes := len(f.prior)
	for number := range f.trees {
		t, key := &f.trees[number], f.key(number)
		for i, row := range codes {
			w := 1.0
			if weigh != nil {
				if w = weigh(key, from+i); w == 0 {
					continue
				}
			}
			weights[i] += w
			t.addTo(sums[i*classes:(i+1)*classes], row, w)
		}
	}
}

// fill rates the objects that no tree has a weight for by all trees.
func (f *Forest) fill(codes [][]uint16, sums, weights []float64) {
	classes := len(f.prior)
	for i, w := range weights {
		if w > 0 {
			continue
		}
		for number := range f.trees {
			f.trees[number].addTo(sums[i*classes:(i+1)*classes], codes[i], 1)
		}
		weights[i] = float64(len(f.trees))
	}
}

// addTo adds the shares of an object's leaf, times a weight.
func (t *tree) addTo(sums []float64, codes []uint16, weight float64) {
	n := &t.nodes[t.leaf(codes)]
	for _, s := range t.shares[n.child:n.set] {
		sums[s.class] += float64(weight * float64(s.share))
	}
}

// finish divides sums of shares by whole, the sum of the trees' weights. The rest of the shares goes
// to all classes by the class shares of all objects.
func (f *Forest) finish(sums []float64, whole float64, out []float32) {
	rest := whole
	for _, s := range sums {
		rest -= s
	}
	rest = max(rest, 0)
	for k, s := range sums {
		out[k] = float32((s + float64(rest*f.prior[k])) / whole)
	}
}

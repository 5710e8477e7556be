package dataset

import (
	"cmp"
	"slices"
)

// Distinct returns the features whose codes differ from the codes of all features before them in some object,
// ascending, and for each feature the position in this list of the feature with its codes.
func (o *Objects) Distinct() (features, of []int) {
	seen := make(map[uint64]int, len(o.Codes))
	for f := range o.Codes {
		hash := o.Codes[f].hash()
		at, ok := seen[hash]
		if !ok {
			at = len(features)
			seen[hash] = at
			features = append(features, f)
		}
		of = append(of, at)
	}
	return features, of
}

// hash returns the hash of the codes of all objects, in the order of the objects.
func (c *Codes) hash() uint64 {
	h := uint64(0)
	for _, code := range c.U8 {
		h = fold(h, uint64(code))
	}
	for _, code := range c.U16 {
		h = fold(h, uint64(code))
	}
	return h
}

// rounds is how often Shuffled refines the hashes of the objects. Rows of a few common values need three.
const rounds = 3

// Shuffled returns the numbers of the objects in an order as if they were shuffled. The order depends on which objects
// have equal values and which ones have equal classes. The order of the objects and of the features, the codes and the
// names of values and of classes, and copies of features have no effect, except where these alone tell objects apart.
//
// An object begins with a hash of its rows and of the shares of its classes. In each round a value gets the sum of the
// hashes of its objects, a class gets their sum by its share in them, and an object gets the sum of the hashes of its
// values and classes: the refinement of colours by which graphs are compared.
func (o *Objects) Shuffled() []int32 {
	hashes := make([]uint64, o.Len())
	next := make([]uint64, o.Len())
	for i := range hashes {
		hashes[i] = mix(0, uint64(o.RowsOf(i)))
		o.eachShare(i, func(_ uint16, share uint64) { hashes[i] += mix(0, share) })
	}
	features, _ := o.Distinct()
	var sums []uint64
	for range rounds {
		clear(next)
		for _, f := range features {
			if c := &o.Codes[f]; c.U8 != nil {
				sums = refine(c.U8, hashes, next, sums)
			} else {
				sums = refine(c.U16, hashes, next, sums)
			}
		}
		classes := o.classKeys(hashes)
		for i, sum := range next {
			o.eachShare(i, func(class uint16, share uint64) { sum += mix(classes[class], share) })
			next[i] = mix(hashes[i], sum)
		}
		hashes, next = next, hashes
	}
	ids := make([]int32, len(hashes))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortFunc(ids, func(a, b int32) int {
		if hashes[a] != hashes[b] {
			return cmp.Compare(hashes[a], hashes[b])
		}
		return o.compare(int(a), int(b))
	})
	return ids
}

// eachShare calls f with the share of each class in object i. The unit of the weights has no effect.
func (o *Objects) eachShare(i int, f func(class uint16, share uint64)) {
	const all = 1 << 32
	each := func(list []ClassWeight, side uint64) {
		_, total := Majority(list)
		for _, w := range list {
			f(w.Class, uint64(scaled(all, w.Weight, total))|side<<63)
		}
	}
	each(o.Raw(i), 0)
	if o.Soft() {
		each(o.Labels(i), 1)
	}
}

// classKeys returns a hash of the contents of each class, given a hash of each object. The name of the class has no
// effect.
func (o *Objects) classKeys(hashes []uint64) []uint64 {
	keys := make([]uint64, o.Classes)
	for i, hash := range hashes {
		o.eachShare(i, func(class uint16, share uint64) { keys[class] += mix(hash, share) })
	}
	return keys
}

// refine adds the hashes of the objects' values of a feature to next. sums is scratch.
func refine[T uint8 | uint16](codes []T, hashes, next, sums []uint64) []uint64 {
	clear(sums)
	for i, code := range codes {
		for int(code) >= len(sums) {
			sums = append(sums, 0)
		}
		sums[code] += hashes[i]
	}
	feature := uint64(0)
	for code, sum := range sums {
		if sum != 0 {
			sums[code] = mix(sum, sum)
			feature += sums[code]
		}
	}
	for i, code := range codes {
		next[i] += mix(sums[code], feature)
	}
	return sums
}

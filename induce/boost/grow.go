package boost

import (
	"cmp"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

const (
	// A split by a set of categories is found by ordering the categories by their gradient over their curvature plus
	// smoothing, in rows, and its sides have a further ridge, in rows. Categories of fewer objects than leastOf, which
	// the order would put at its ends by chance, are on the other side; so are all but mostSet. Leaves of up to fewValues
	// categories are split by a single one. (Ke et al.: LightGBM, NeurIPS 2017, and the defaults of its program.)
	smoothing = 10
	setRidge  = 10
	leastOf   = 10
	mostSet   = 32
	fewValues = 4
)

// leaf is a leaf of a growing tree.
type leaf struct {
	from, to  int      // its rows, in the fitter's order
	histogram []sum    // by entry and score; nil if the leaf is not divided
	ranges    []extent // by used feature
	total     []sum    // by score, over all rows
	best      candidate
	above     int  // the split that leads to the leaf; negative for the root
	yes       bool // whether the leaf is the yes side
}

// extent is a range of ranks of a feature that contains the ranks of all rows of a leaf, without
// missing.
type extent struct{ from, to int }

// candidate is a possible split of a leaf.
type candidate struct {
	gain    float64 // in units; 0 if there is no split
	use     int     // index of the feature in the used features
	code    int
	codes   []uint16 // see Split.Codes
	missing bool
}

// grow grows a regression tree, always splitting the leaf with the most gain, and raises the scores
// of the rows by its values. It returns nil if no split has a gain.
func (f *fitter) grow() Tree {
	for i := range f.order {
		f.order[i] = int32(i)
	}
	f.draw()
	root := &leaf{to: len(f.order), above: -1, ranges: f.rangesOf(0)}
	for u, listed := range f.listed {
		root.ranges[u] = extent{0, len(listed) - 1}
	}
	root.histogram = f.histogram(f.order, root.ranges)
	root.total = f.total(root)
	f.search(root)
	list := []*leaf{root}
	t := f.tree[:0]
	for len(list) < MaxLeaves {
		at := 0
		for i, l := range list {
			if l.best.gain > list[at].best.gain {
				at = i
			}
		}
		if list[at].best.gain == 0 {
			break
		}
		t = f.split(t, list[at])
		if best := &list[at].best; f.gains != nil {
			f.gains[f.use[best.use]] += float64(best.gain * f.units.gain)
		}
		no, yes := f.part(list[at], len(t)-1, f.rangesOf(len(list)), len(list)+1 == MaxLeaves)
		list[at] = no
		list = append(list, yes)
	}
	if f.tree = t; len(t) == 0 {
		f.release(root)
		return nil
	}
	t = slices.Clone(t)
	values := make([]float64, len(list)*f.width)
	for i, l := range list {
		f.release(l)
		side := &t[l.above].No
		if l.yes {
			side = &t[l.above].Yes
		}
		side.Values = values[i*f.width : (i+1)*f.width]
		f.fill(side.Values, l.total)
		if f.width == 1 {
			for _, row := range f.order[l.from:l.to] {
				f.scores[row] += side.Values[0]
			}
			continue
		}
		for _, row := range f.order[l.from:l.to] {
			to := f.scores[int(row)*f.width:][:f.width]
			for k, v := range side.Values {
				to[k] += v
			}
		}
	}
	return t
}

// rangesOf returns the memory of the ranges of a leaf.
func (f *fitter) rangesOf(leaf int) []extent { return f.ranges[leaf*len(f.use):][:len(f.use)] }

// release returns the histogram of a leaf, which is not needed any more.
func (f *fitter) release(l *leaf) {
	if l.histogram != nil {
		f.free = append(f.free, l.histogram)
		l.histogram = nil
	}
}

// split appends the best split of a leaf to the tree.
func (f *fitter) split(t Tree, l *leaf) Tree {
	if l.above >= 0 && l.yes {
		t[l.above].Yes.Split = len(t)
	} else if l.above >= 0 {
		t[l.above].No.Split = len(t)
	}
	return append(t, Split{Feature: f.use[l.best.use], Code: l.best.code, Codes: l.best.codes, Missing: l.best.missing})
}

// part divides the rows of a leaf by its best split, which is at position at of the tree. The
// histogram of the side with more rows is the leaf's histogram less the histogram of the other
// side. ranges is the memory of the ranges of the yes side. After the last split neither side is divided.
func (f *fitter) part(l *leaf, at int, ranges []extent, last bool) (no, yes *leaf) {
	codes := f.codes[l.best.use]
	side := f.sides(&l.best)
	rows := f.order[l.from:l.to]
	spare := f.spare
	var kept, moved int
	for _, row := range rows { // writes both, because a processor cannot predict the branch
		rows[kept] = row
		spare[moved] = row
		yes := int(side[codes[row]])
		kept += 1 - yes
		moved += yes
	}
	copy(rows[kept:], spare[:moved])
	copy(ranges, l.ranges)
	no = &leaf{from: l.from, to: l.from + kept, above: at, ranges: l.ranges}
	yes = &leaf{from: l.from + kept, to: l.to, above: at, yes: true, ranges: ranges}
	fewer, more := no, yes
	if no.to-no.from > yes.to-yes.from {
		fewer, more = yes, no
	}
	if last || more.to-more.from < 2*least { // so neither is divided
		f.release(l)
		fewer.total, more.total = f.totalOf(fewer), f.totalOf(more)
		return no, yes
	}
	fewer.histogram, more.histogram = f.histogram(f.order[fewer.from:fewer.to], l.ranges), l.histogram
	f.subtract(more.histogram, fewer.histogram, l.ranges)
	if f.features[f.use[l.best.use]].Kind == dataset.Numeric {
		own := no.ranges[l.best.use]
		cut, _ := slices.BinarySearch(f.listed[l.best.use][own.from:own.to], uint16(l.best.code))
		no.ranges[l.best.use].to = own.from + cut
		yes.ranges[l.best.use].from = own.from + cut
	}
	for _, side := range []*leaf{no, yes} {
		side.total = f.total(side)
		f.search(side)
		if side.best.gain == 0 {
			f.release(side)
		}
	}
	return no, yes
}

// sides returns, by rank of the feature of a split, 1 for the yes side and 0 for the other side.
func (f *fitter) sides(c *candidate) []uint8 {
	feature := &f.features[f.use[c.use]]
	listed := f.listed[c.use]
	s := Split{Code: c.code, Codes: c.codes, Missing: c.missing}
	side := make([]uint8, len(listed))
	for rank, code := range listed {
		if s.yes(feature, int(code)) {
			side[rank] = 1
		}
	}
	return side
}

// spans calls work with the sums [from, to) of a histogram that the rows of a leaf may have.
func (f *fitter) spans(ranges []extent, work func(from, to int)) {
	for _, u := range f.drawn {
		f.span(u, ranges, work)
	}
}

// span is spans for the sums of a feature.
func (f *fitter) span(use int, ranges []extent, work func(from, to int)) {
	r := ranges[use]
	work((f.first[use]+r.from)*f.width, (f.first[use]+r.to)*f.width)
	missing := f.first[use] + len(f.listed[use]) - 1
	work(missing*f.width, (missing+1)*f.width)
}

// subtract subtracts a histogram from another, given the ranges of their rows.
func (f *fitter) subtract(from, other []sum, ranges []extent) {
	f.spans(ranges, func(a, b int) {
		to := from[a:b]
		for i, v := range other[a:b] {
			to[i] -= v
		}
	})
}

// histogram returns the sums over rows, by entry and score, given the ranges of the rows. Other entries
// have any values. It is a hot loop.
func (f *fitter) histogram(rows []int32, ranges []extent) []sum {
	var h []sum
	if last := len(f.free) - 1; last >= 0 {
		h = f.free[last]
		f.free = f.free[:last]
		f.spans(ranges, func(a, b int) { clear(h[a:b]) })
	} else {
		h = make([]sum, f.entries*f.width)
	}
	sums := f.sums
	width := f.width
	for _, u := range f.drawn {
		codes := f.codes[u]
		own := h[f.first[u]*width:]
		if width == 1 {
			sums = sums[:len(codes)]
			for _, row := range rows {
				own[codes[row]] += sums[row]
			}
			continue
		}
		for _, row := range rows {
			to := own[int(codes[row])*width:][:width]
			for k, v := range sums[int(row)*width:][:width] {
				to[k] += v
			}
		}
	}
	return h
}

// total returns the sums over all rows of a leaf, which are sums over the codes of a feature.
func (f *fitter) total(l *leaf) []sum {
	total := make([]sum, f.width)
	f.span(f.drawn[0], l.ranges, func(from, to int) {
		for ; from < to; from += f.width {
			add(total, l.histogram[from:])
		}
	})
	return total
}

// totalOf is total for a leaf without a histogram.
func (f *fitter) totalOf(l *leaf) []sum {
	total := make([]sum, f.width)
	for _, row := range f.order[l.from:l.to] {
		add(total, f.sums[int(row)*f.width:])
	}
	return total
}

// search sets the best split of a leaf: the split with the most gain above the least one; ties: the first.
func (f *fitter) search(l *leaf) {
	if l.to-l.from < 2*least {
		return
	}
	l.best.gain = f.leastGain
	defer func() {
		if !(l.best.gain > f.leastGain) {
			l.best.gain = 0
		}
	}()
	t := &trial{leaf: l, base: f.merit(l.total, nil, f.units.ridge), ridge: f.units.ridge, side: make([]sum, f.width)}
	for _, use := range f.drawn {
		own := &f.features[f.use[use]]
		r := l.ranges[use]
		t.use = use
		t.numeric = own.Kind == dataset.Numeric
		missing := (f.first[use] + len(f.listed[use]) - 1) * f.width
		t.missing = l.histogram[missing:][:f.width]
		h := l.histogram[(f.first[use]+r.from)*f.width:]
		listed := f.listed[use][r.from:r.to]
		if !t.numeric {
			f.searchSets(t, h, listed, own.OtherCode())
			continue
		}
		if last := len(listed) - 1; last >= 0 && int(listed[last])+1 == own.Bins() {
			listed = listed[:last] // there is no higher bin
		}
		switch {
		case f.width > 1:
			low := make([]sum, f.width)
			for rank, code := range listed {
				if h[rank*f.width] != 0 { // otherwise the previous split has the same sides
					add(low, h[rank*f.width:])
					copy(t.side, low)
					f.try(t, int(code)+1)
				}
			}
		case t.missing[0] != 0:
			f.searchBins(t, h, listed)
		default:
			f.searchFull(t, h, listed)
		}
	}
}

// searchFull is searchBins for a feature that all rows of the leaf have. It is the hottest loop.
func (f *fitter) searchFull(t *trial, h []sum, listed []uint16) {
	total := t.leaf.total[0]
	best := &t.leaf.best
	ridge := f.units.ridge
	h = h[:len(listed)]
	low := sum(0)
	for rank, code := range listed {
		if h[rank] == 0 {
			continue
		}
		low += h[rank]
		n := low.rows()
		rest := (total - low).rows()
		if n < least {
			continue
		}
		if rest < least {
			return
		}
		g := low.gradient()
		u := (total - low).gradient()
		if gain := float64(g*g)/(low.curvature()+ridge) + float64(u*u)/((total-low).curvature()+ridge) - t.base; gain > best.gain {
			*best = candidate{gain: gain, use: t.use, code: int(code) + 1, missing: n <= rest}
		}
	}
}

// searchBins is search for a numeric feature with a single score, given the sums and the codes of the
// ranks that split the rows. Some rows of the leaf have no value.
func (f *fitter) searchBins(t *trial, h []sum, listed []uint16) {
	total := t.leaf.total[0]
	missing := t.missing[0]
	best := &t.leaf.best
	ridge := f.units.ridge
	low := sum(0)
	for rank, code := range listed {
		if h[rank] == 0 {
			continue
		}
		low += h[rank]
		if (low + missing).rows() < least {
			continue
		}
		if (total - low).rows() < least {
			return
		}
		side := low
		for with := false; ; with = true {
			if other := total - side; side.rows() >= least && other.rows() >= least {
				g := side.gradient()
				u := other.gradient()
				gain := float64(g*g)/(side.curvature()+ridge) + float64(u*u)/(other.curvature()+ridge) - t.base
				if gain > best.gain {
					*best = candidate{gain: gain, use: t.use, code: int(code) + 1, missing: !with}
				}
			}
			if with {
				break
			}
			side += missing
		}
	}
}

// trial is the state in which splits of a leaf are tried.
type trial struct {
	leaf    *leaf
	base    float64 // merit of the leaf
	use     int     // index of the feature in the used features
	numeric bool
	ridge   float64 // ridge of the merit of a side
	missing []sum   // by score, over the leaf's rows without a value
	// side holds sums over the rows with a value on one side: the lower bins, or a category.
	side []sum
}

// try tries a split with the rows without a value on the other side, then on this side. If there
// are no such rows, they are assigned to the side with more rows. It reports whether a side gains more than before.
func (f *fitter) try(t *trial, code int) (better bool) {
	for _, with := range []bool{false, true} {
		if with {
			if t.missing[0] == 0 {
				return better
			}
			add(t.side, t.missing)
		}
		n := t.side[0].rows()
		rest := (t.leaf.total[0] - t.side[0]).rows()
		if n < least || rest < least {
			continue
		}
		here := with
		if t.missing[0] == 0 {
			here = n > rest
		}
		if gain := f.merit(t.side, nil, t.ridge) + f.merit(t.side, t.leaf.total, t.ridge) - t.base; gain > t.leaf.best.gain {
			// the lower bins are the no side
			t.leaf.best = candidate{gain: gain, use: t.use, code: code, missing: here != t.numeric}
			better = true
		}
	}
	return better
}

// searchSets is search for a categorical feature, given the sums and the codes of its values. other is the code of
// values that are not listed, which are always on the other side.
func (f *fitter) searchSets(t *trial, h []sum, listed []uint16, other int) {
	present := make([]int, 0, len(listed)) // ranks
	for rank, code := range listed {
		if h[rank*f.width] != 0 && int(code) != other {
			present = append(present, rank)
		}
	}
	take := func(ranks []int) {
		codes := make([]uint16, len(ranks))
		for i, rank := range ranks {
			codes[i] = listed[rank]
		}
		slices.Sort(codes)
		t.leaf.best.codes = codes
	}
	if len(present) <= fewValues {
		for i, rank := range present {
			copy(t.side, h[rank*f.width:])
			if f.try(t, 0) {
				take(present[i : i+1])
			}
		}
		return
	}
	present = slices.DeleteFunc(present, func(rank int) bool { return h[rank*f.width].rows() < leastOf })
	t.ridge += float64(setRidge * f.units.curvature)
	ratios := make([]float64, len(listed))
	low := make([]sum, f.width)
	for k := range f.width {
		for _, rank := range present {
			s := h[rank*f.width+k]
			ratios[rank] = s.gradient() / (s.curvature() + float64(smoothing*f.units.curvature))
		}
		slices.SortStableFunc(present, func(a, b int) int { return cmp.Compare(ratios[a], ratios[b]) })
		for range 2 { // from both ends
			clear(low)
			best := 0
			for i, rank := range present[:min(mostSet, (len(present)+1)/2)] {
				add(low, h[rank*f.width:])
				copy(t.side, low)
				if f.try(t, 0) {
					best = i + 1
				}
			}
			if best > 0 {
				take(present[:best])
			}
			slices.Reverse(present)
		}
	}
	t.ridge = f.units.ridge
}

// merit returns the sum over scores of the squared gradient divided by the curvature plus the ridge. It
// uses the sums s or, if of is not nil, the difference of of and s.
func (f *fitter) merit(s, of []sum, ridge float64) float64 {
	merit := 0.0
	for k, one := range s {
		if of != nil {
			one = of[k] - one
		}
		g := one.gradient()
		merit += float64(g*g) / (one.curvature() + ridge)
	}
	return merit
}

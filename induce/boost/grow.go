package boost

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// leaf is a leaf of a growing tree.
type leaf struct {
	from, to  int      // its rows, in the fitter's order
	histogram sums     // by entry; nil if the leaf is not divided
	ranges    []extent // by used feature
	total     sums     // over all rows
	best      candidate
	above     int  // the split that leads to the leaf; negative for the root
	yes       bool // whether the leaf is the yes side
}

// extent is a range of ranks of a feature that contains the ranks of all rows of a leaf, without
// missing.
type extent struct{ from, to int }

// candidate is a possible split of a leaf.
type candidate struct {
	gain    float64 // 0 if there is no split
	use     int     // index of the feature in the used features
	code    int
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
	var t Tree
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
			f.gains[f.use[best.use]] += best.gain
		}
		no, yes := f.part(list[at], len(t)-1, f.rangesOf(len(list)))
		list[at] = no
		list = append(list, yes)
	}
	for _, l := range list {
		f.release(l)
		if l.above < 0 {
			return nil
		}
		side := &t[l.above].No
		if l.yes {
			side = &t[l.above].Yes
		}
		side.Values = f.values(l.total)
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
		f.free, l.histogram = append(f.free, l.histogram), nil
	}
}

// split appends the best split of a leaf to the tree.
func (f *fitter) split(t Tree, l *leaf) Tree {
	if l.above >= 0 && l.yes {
		t[l.above].Yes.Split = len(t)
	} else if l.above >= 0 {
		t[l.above].No.Split = len(t)
	}
	return append(t, Split{Feature: f.use[l.best.use], Code: l.best.code, Missing: l.best.missing})
}

// part divides the rows of a leaf by its best split, which is at position at of the tree. The
// histogram of the side with more rows is the leaf's histogram less the histogram of the other
// side. ranges is the memory of the ranges of the yes side.
func (f *fitter) part(l *leaf, at int, ranges []extent) (no, yes *leaf) {
	codes, side := f.codes[l.best.use], f.sides(&l.best)
	rows, spare := f.order[l.from:l.to], f.spare
	kept, moved := 0, 0
	for _, row := range rows { // writes both, because a processor cannot predict the branch
		rows[kept], spare[moved] = row, row
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
	if more.to-more.from < 2*least { // so neither is divided
		f.release(l)
		fewer.total, more.total = f.totalOf(fewer), f.totalOf(more)
		return no, yes
	}
	fewer.histogram, more.histogram = f.histogram(f.order[fewer.from:fewer.to], l.ranges), l.histogram
	f.subtract(more.histogram, fewer.histogram, l.ranges)
	if f.features[f.use[l.best.use]].Kind == dataset.Numeric {
		own := no.ranges[l.best.use]
		cut, _ := slices.BinarySearch(f.listed[l.best.use][own.from:own.to], uint16(l.best.code))
		no.ranges[l.best.use].to, yes.ranges[l.best.use].from = own.from+cut, own.from+cut
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
	feature, listed := &f.features[f.use[c.use]], f.listed[c.use]
	s, side := Split{Code: c.code, Missing: c.missing}, make([]uint8, len(listed))
	for rank, code := range listed {
		if s.yes(feature, int(code)) {
			side[rank] = 1
		}
	}
	return side
}

// spans calls work with the entries [from, to) of a histogram that the rows of a leaf may have, in
// units of sums.
func (f *fitter) spans(ranges []extent, work func(from, to int)) {
	for _, u := range f.drawn {
		f.span(u, ranges, work)
	}
}

// span is spans for the entries of a feature.
func (f *fitter) span(use int, ranges []extent, work func(from, to int)) {
	stride := f.stride()
	r := ranges[use]
	work((f.first[use]+r.from)*stride, (f.first[use]+r.to)*stride)
	missing := f.first[use] + len(f.listed[use]) - 1
	work(missing*stride, (missing+1)*stride)
}

// subtract subtracts a histogram from another, given the ranges of their rows.
func (f *fitter) subtract(from, other sums, ranges []extent) {
	f.spans(ranges, func(a, b int) {
		to := from[a:b]
		for i, v := range other[a:b] {
			to[i] -= v
		}
	})
}

// histogram returns the sums over rows, by entry, given the ranges of the rows. Other entries have any
// values. It is a hot loop.
func (f *fitter) histogram(rows []int32, ranges []extent) sums {
	stride := f.stride()
	var h sums
	if last := len(f.free) - 1; last >= 0 {
		h, f.free = f.free[last], f.free[:last]
		f.spans(ranges, func(a, b int) { clear(h[a:b]) })
	} else {
		h = make(sums, f.entries*stride)
	}
	for _, u := range f.drawn {
		codes := f.codes[u]
		own := h[f.first[u]*stride:]
		if f.width == 1 {
			for _, row := range rows {
				to, from := (*[3]float64)(own[int(codes[row])*3:]), (*[2]float64)(f.slopes[int(row)*2:])
				to[0]++
				to[1] += from[0]
				to[2] += from[1]
			}
			continue
		}
		for _, row := range rows {
			to, from := own[int(codes[row])*stride:][:stride], f.slopes[int(row)*(stride-1):][:stride-1]
			to[0]++
			for k, v := range from {
				to[1+k] += v
			}
		}
	}
	return h
}

// total returns the sums over all rows of a leaf, which is the sum over the codes of a feature.
func (f *fitter) total(l *leaf) sums {
	stride := f.stride()
	total := make(sums, stride)
	f.span(f.drawn[0], l.ranges, func(from, to int) {
		for ; from < to; from += stride {
			total.add(l.histogram[from:])
		}
	})
	return total
}

// totalOf is total for a leaf without a histogram.
func (f *fitter) totalOf(l *leaf) sums {
	stride := f.stride()
	total := make(sums, stride)
	for _, row := range f.order[l.from:l.to] {
		total[0]++
		for k, v := range f.slopes[int(row)*(stride-1):][:stride-1] {
			total[1+k] += v
		}
	}
	return total
}

// add adds the sums of an entry.
func (s sums) add(entry sums) {
	for k := range s {
		s[k] += entry[k]
	}
}

// search sets the best split of a leaf: the split with the most gain; ties: the first.
func (f *fitter) search(l *leaf) {
	if l.to-l.from < 2*least {
		return
	}
	stride := f.stride()
	t := &trial{leaf: l, base: f.merit(l.total, nil), side: make(sums, stride)}
	for _, use := range f.drawn {
		own, r := &f.features[f.use[use]], l.ranges[use]
		t.use, t.numeric = use, own.Kind == dataset.Numeric
		missing := (f.first[use] + len(f.listed[use]) - 1) * stride
		t.missing = l.histogram[missing:][:stride]
		h, listed := l.histogram[(f.first[use]+r.from)*stride:], f.listed[use][r.from:r.to]
		if !t.numeric {
			for rank, code := range listed {
				if int(code) == own.OtherCode() { // values that are not listed are always on the other side
					break
				}
				copy(t.side, h[rank*stride:])
				f.try(t, int(code))
			}
			continue
		}
		if last := len(listed) - 1; last >= 0 && int(listed[last])+1 == own.Bins() {
			listed = listed[:last] // there is no higher bin
		}
		switch {
		case f.width > 1:
			low := make(sums, stride)
			for rank, code := range listed {
				if h[rank*stride] > 0 { // otherwise the previous split has the same sides
					low.add(h[rank*stride:])
					copy(t.side, low)
					f.try(t, int(code)+1)
				}
			}
		case t.missing[0] > 0:
			f.searchBins(t, h, listed)
		default:
			f.searchFull(t, h, listed)
		}
	}
}

// searchFull is searchBins for a feature that all rows of the leaf have. It is the hottest loop.
func (f *fitter) searchFull(t *trial, h sums, listed []uint16) {
	rows, gradient, curvature, best := t.leaf.total[0], t.leaf.total[1], t.leaf.total[2], &t.leaf.best
	var n, g, c float64
	for rank, code := range listed {
		entry := (*[3]float64)(h[rank*3:])
		if entry[0] == 0 {
			continue
		}
		n, g, c = n+entry[0], g+entry[1], c+entry[2]
		rest := rows - n
		if n < least {
			continue
		}
		if rest < least {
			return
		}
		u, v := gradient-g, curvature-c
		if gain := float64(g*g)/(c+ridge) + float64(u*u)/(v+ridge) - t.base; gain > best.gain {
			*best = candidate{gain, t.use, int(code) + 1, !(n > rest)}
		}
	}
}

// searchBins is search for a numeric feature with a single score, given the sums and the codes of the
// ranks that split the rows. Some rows of the leaf have no value.
func (f *fitter) searchBins(t *trial, h sums, listed []uint16) {
	total, missing, best := t.leaf.total[:3], t.missing[:3], &t.leaf.best
	var low [3]float64
	for rank, code := range listed {
		entry := h[rank*3:][:3]
		if entry[0] == 0 {
			continue
		}
		low[0], low[1], low[2] = low[0]+entry[0], low[1]+entry[1], low[2]+entry[2]
		if low[0]+missing[0] < least {
			continue
		}
		if total[0]-low[0] < least {
			return
		}
		side := low
		for with := false; ; with = true {
			if rest := total[0] - side[0]; side[0] >= least && rest >= least {
				g, h := total[1]-side[1], total[2]-side[2]
				gain := float64(side[1]*side[1])/(side[2]+ridge) + float64(g*g)/(h+ridge) - t.base
				if gain > best.gain {
					*best = candidate{gain, t.use, int(code) + 1, !with}
				}
			}
			if with {
				break
			}
			side[0], side[1], side[2] = side[0]+missing[0], side[1]+missing[1], side[2]+missing[2]
		}
	}
}

// trial is the state in which splits of a leaf are tried.
type trial struct {
	leaf    *leaf
	base    float64 // merit of the leaf
	use     int     // index of the feature in the used features
	numeric bool
	missing sums // sums over the leaf's rows without a value
	// side holds sums over the rows with a value on one side: the lower bins, or a category.
	side sums
}

// try tries a split with the rows without a value on the other side, then on this side. If there
// are no such rows, they are assigned to the side with more rows.
func (f *fitter) try(t *trial, code int) {
	for _, with := range []bool{false, true} {
		if with {
			if t.missing[0] == 0 {
				return
			}
			t.side.add(t.missing)
		}
		rest := t.leaf.total[0] - t.side[0]
		if t.side[0] < least || rest < least {
			continue
		}
		here := with
		if t.missing[0] == 0 {
			here = t.side[0] > rest
		}
		if gain := f.merit(t.side, nil) + f.merit(t.side, t.leaf.total) - t.base; gain > t.leaf.best.gain {
			t.leaf.best = candidate{gain, t.use, code, here != t.numeric} // the lower bins are the no side
		}
	}
}

// merit returns the sum over scores of the squared gradient divided by the second derivative plus
// the ridge. It uses the sums s or, if of is not nil, the
// difference of of and s.
func (f *fitter) merit(s, of sums) float64 {
	merit := 0.0
	for k := 1; k < len(s); k += 2 {
		g, h := s[k], s[k+1]
		if of != nil {
			g, h = of[k]-g, of[k+1]-h
		}
		merit += float64(g*g) / (h + ridge)
	}
	return merit
}

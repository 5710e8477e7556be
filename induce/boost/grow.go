package boost

import "github.com/espalier-ml/espalier/induce/dataset"

// leaf is a leaf of a growing tree.
type leaf struct {
	from, to  int  // its rows, in the fitter's order
	histogram sums // by entry
	total     sums // over all rows
	best      candidate
	above     int  // the split that leads to the leaf; negative for the root
	yes       bool // whether the leaf is the yes side
}

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
	root := &leaf{to: len(f.order), above: -1, histogram: f.histogram(f.order)}
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
		no, yes := f.part(list[at], len(t)-1)
		list[at] = no
		list = append(list, yes)
	}
	for _, l := range list {
		f.free = append(f.free, l.histogram)
		if l.above < 0 {
			return nil
		}
		side := &t[l.above].No
		if l.yes {
			side = &t[l.above].Yes
		}
		side.Values = f.values(l.total)
		for _, row := range f.order[l.from:l.to] {
			to := f.scores[int(row)*f.width:][:f.width]
			for k, v := range side.Values {
				to[k] += v
			}
		}
	}
	return t
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
// side.
func (f *fitter) part(l *leaf, at int) (no, yes *leaf) {
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
	no = &leaf{from: l.from, to: l.from + kept, above: at}
	yes = &leaf{from: l.from + kept, to: l.to, above: at, yes: true}
	fewer, more := no, yes
	if no.to-no.from > yes.to-yes.from {
		fewer, more = yes, no
	}
	fewer.histogram, more.histogram = f.histogram(f.order[fewer.from:fewer.to]), l.histogram
	for i, v := range fewer.histogram {
		more.histogram[i] -= v
	}
	for _, side := range []*leaf{no, yes} {
		side.total = f.total(side)
		f.search(side)
	}
	return no, yes
}

// sides returns, by code of the feature of a split, 1 for the yes side and 0 for the other side.
func (f *fitter) sides(c *candidate) []uint8 {
	feature := &f.features[f.use[c.use]]
	s, side := Split{Code: c.code, Missing: c.missing}, make([]uint8, feature.Codes())
	for code := range side {
		if s.yes(feature, code) {
			side[code] = 1
		}
	}
	return side
}

// histogram returns the sums over rows, by entry. It is a hot loop.
func (f *fitter) histogram(rows []int32) sums {
	stride := f.stride()
	var h sums
	if last := len(f.free) - 1; last >= 0 {
		h, f.free = f.free[last], f.free[:last]
		clear(h)
	} else {
		h = make(sums, f.entries*stride)
	}
	for u, codes := range f.codes {
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

// total returns the sums over all rows of a leaf, which is the sum over the codes of the first used
// feature.
func (f *fitter) total(l *leaf) sums {
	stride := f.stride()
	total := make(sums, stride)
	for code := range f.features[f.use[0]].Codes() {
		total.add(l.histogram[code*stride:])
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
	for use, feature := range f.use {
		own := &f.features[feature]
		t.use, t.numeric = use, own.Kind == dataset.Numeric
		h := l.histogram[f.first[use]*stride:]
		t.missing = h[own.MissingCode()*stride:][:stride]
		if f.width == 1 && t.numeric {
			f.searchBins(t, h, own.Bins())
			continue
		}
		if !t.numeric {
			for code := range own.Values { // values that are not listed are always on the other side
				copy(t.side, h[code*stride:])
				f.try(t, code)
			}
			continue
		}
		low := make(sums, stride)
		for code := 1; code < own.Bins(); code++ {
			if h[(code-1)*stride] == 0 { // the previous split has the same sides
				continue
			}
			low.add(h[(code-1)*stride:])
			copy(t.side, low)
			f.try(t, code)
		}
	}
}

// searchBins is search for a numeric feature with bins entries in h and a single score. It is a hot
// loop.
func (f *fitter) searchBins(t *trial, h sums, bins int) {
	total, missing, best := t.leaf.total[:3], t.missing[:3], &t.leaf.best
	var low [3]float64
	for code := 1; code < bins; code++ {
		entry := h[(code-1)*3:][:3]
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
					here := with
					if missing[0] == 0 {
						here = side[0] > rest
					}
					*best = candidate{gain, t.use, code, !here}
				}
			}
			if with || missing[0] == 0 {
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

package certify

import "slices"

// classMass is the weight of one class.
type classMass struct {
	weight [][]int64 // by feature and code
	below  [][]int64 // by feature and code: weight of the smaller codes, without missing
	total  int64
}

// massOf returns the weight of a class, which it computes at the first call.
func (p *problem) massOf(class int32) *classMass {
	p.masses[class].Do(func() { p.massesOf[class] = p.weighClass(class) })
	return p.massesOf[class]
}

func (p *problem) weighClass(class int32) *classMass {
	m := &classMass{weight: make([][]int64, len(p.features)), below: make([][]int64, len(p.features))}
	for f := range p.features {
		m.weight[f] = make([]int64, len(p.features[f].weight))
	}
	for _, i := range p.members[class] {
		m.total += p.weight[i]
		for f, code := range p.row(i) {
			m.weight[f][code] += p.weight[i]
		}
	}
	for f := range p.features {
		m.below[f] = cumulate(m.weight[f], int(p.features[f].missing))
	}
	return m
}

// cumulate returns for each position the sum of the elements before it, and at the
// end the sum of all elements. The element at without is left out.
func cumulate(x []int64, without int) []int64 {
	below := make([]int64, len(x)+1)
	for i, v := range x {
		below[i+1] = below[i]
		if i != without {
			below[i+1] += v
		}
	}
	return below
}

// taken returns the weight that a cut takes away, given the weight by code and its
// cumulative sums.
func (c *cut) taken(weight, below []int64, total int64) int64 {
	switch c.shape {
	case lower:
		return below[c.bound] + weight[c.missing]
	case upper:
		return below[len(below)-1] - below[c.bound]
	case only:
		return weight[c.bound]
	default:
		return total - weight[c.bound]
	}
}

// tabulate fills the table: for each feature and code, the least weight of the
// object's class taken away by a cut that parts the object from the code.
func (s *searcher) tabulate() {
	mass := s.p.massOf(s.p.class[s.object])
	s.most = mass.total
	var cuts []cut
	for f, own := range s.p.row(s.object) {
		a := &s.p.features[f]
		table := s.table[s.tables[f]:]
		for code := range a.weight {
			table[code] = mass.total
			if code == int(own) || a.weight[code] == 0 {
				continue
			}
			cuts = a.appendCuts(cuts[:0], int32(f), own, uint16(code))
			for i := range cuts {
				table[code] = min(table[code], cuts[i].taken(mass.weight[f], mass.below[f], mass.total))
			}
		}
	}
}

// centralObject is an object of another class. taken is the least weight of the
// object's class that a leaf gives up with it.
type centralObject struct {
	taken  int64
	object int32
}

// findCentral makes rivals of the most central objects in a region; a nil region
// is the whole data. An object of another class is the more central, the more
// weight of the class every cut takes away together with it. It returns the number
// of central objects found.
func (s *searcher) findCentral(g *region, most int) int {
	p := s.p
	class := p.class[s.object]
	var best []centralObject
	least := int64(-1)
	for i, k := range p.class[:p.universe] {
		if i%stopEvery == 0 && p.meter.stops() {
			break
		}
		if k == class {
			continue
		}
		row := p.row(int32(i))
		if g != nil && !s.holds(g, row) {
			continue
		}
		taken := s.most
		for f, code := range row {
			if taken = min(taken, s.table[s.tables[f]+int(code)]); taken <= least {
				break
			}
		}
		if taken <= least || s.known[int32(i)] {
			continue
		}
		if best = append(best, centralObject{taken, int32(i)}); len(best) >= 2*most {
			sortCentral(best)
			best = best[:most]
			least = best[most-1].taken
		}
	}
	s.work += p.universe
	sortCentral(best)
	for _, c := range best[:min(len(best), most)] {
		s.add(c.object)
	}
	return len(best)
}

// sortCentral sorts the objects, the most central first. Equal ones keep their
// order.
func sortCentral(list []centralObject) {
	slices.SortStableFunc(list, func(a, b centralObject) int {
		if a.taken > b.taken {
			return -1
		} else if a.taken < b.taken {
			return 1
		}
		return 0
	})
}

package certify

import "slices"

// mass is the weight of some objects.
type mass struct {
	below [][]int64 // by feature and code: weight of the smaller codes; at the end of all codes
	total int64
}

func (p *problem) newMass() *mass {
	m := &mass{below: make([][]int64, len(p.features))}
	for f := range p.features {
		m.below[f] = make([]int64, len(p.features[f].weight)+1)
	}
	return m
}

// massOf returns the weight of a class, which it computes at the first call.
func (p *problem) massOf(class int32) *mass {
	p.masses[class].Do(func() { p.massesOf[class] = p.weighClass(class) })
	return p.massesOf[class]
}

func (p *problem) weighClass(class int32) *mass {
	m := p.newMass()
	for _, i := range p.members[class] {
		m.total += p.weight[i]
		for f, code := range p.row(i) {
			m.below[f][code+1] += p.weight[i]
		}
	}
	for _, below := range m.below {
		cumulate(below)
	}
	return m
}

// cumulate adds to each number the numbers before it.
func cumulate(x []int64) {
	for i := 1; i < len(x); i++ {
		x[i] += x[i-1]
	}
}

// taken returns the weight that a cut takes away.
func (m *mass) taken(c *cut) int64 {
	below := m.below[c.feature]
	weight := below[int(c.low)+int(c.span)+1] - below[c.low]
	if c.inside {
		return weight
	}
	return m.total - weight
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
				table[code] = min(table[code], mass.taken(&cuts[i]))
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

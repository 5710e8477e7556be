package memory

// varied lists the features whose values may vary in a node. A feature of a single value has no test in the
// node, nor in any node below. Half of the 1,776 features of bioresponse do not vary in nodes of 30 objects.
type varied struct {
	features []int32 // ascending
	cells    int     // number of cells of these features
}

// list returns the features; nil if they are all features.
func (v *varied) list() []int32 {
	if v == nil {
		return nil
	}
	return v.features
}

// feature returns the feature at a position of the list.
func (v *varied) feature(at int) int {
	if v == nil {
		return at
	}
	return int(v.features[at])
}

// features returns the number of features in a list.
func (g *grower) features(v *varied) int {
	if v == nil {
		return len(g.Columns)
	}
	return len(v.features)
}

// cellsOf returns the number of cells of the features in a list.
func (g *grower) cellsOf(v *varied) int {
	if v == nil {
		return g.layout.Cells()
	}
	return v.cells
}

// narrowed returns the features of a list that vary, by position. It returns the list itself if nearly all of
// them do, since a list takes memory.
func (g *grower) narrowed(v *varied, varies []bool) *varied {
	all, left := g.features(v), 0
	for _, yes := range varies {
		if yes {
			left++
		}
	}
	if 8*left > 7*all {
		return v
	}
	n := &varied{features: make([]int32, 0, left)}
	for at, yes := range varies {
		if f := v.feature(at); yes {
			n.features = append(n.features, int32(f))
			n.cells += g.layout.CellsBetween(f, f+1)
		}
	}
	return n
}

package inmemory

// varied lists the features whose values may vary in a node. A feature of a single value has no test in the
// node, nor in any node below. Half of the 1,776 features of bioresponse do not vary in nodes of 30 objects.
type varied struct {
	features []int32 // ascending
	cells    int     // number of cells of these features
}

// narrowed returns the features of a list that vary, by position. It returns the list itself if nearly all of
// them do, since a list takes memory.
func (g *grower) narrowed(v *varied, varies []bool) *varied {
	left := 0
	for _, yes := range varies {
		if yes {
			left++
		}
	}
	if 8*left > 7*len(v.features) {
		return v
	}
	n := &varied{features: make([]int32, 0, left)}
	for at, f := range v.features {
		if varies[at] {
			n.features = append(n.features, f)
			n.cells += g.layout.CellsBetween(int(f), int(f)+1)
		}
	}
	return n
}

package dataset

import (
	"cmp"
	"slices"
)

// TestOrder returns the positions of columns in the order in which their tests break ties, so that the order of the
// columns in a file does not matter: by name. Columns with equal contents, by their hashes, follow one another at the
// place of the shortest of their names, and that column comes first: a copy of a column, with whatever longer name,
// changes the place of no other column.
func TestOrder(columns []FeatureColumn, contents []uint64) []int {
	byLength := func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
	first := make(map[uint64]string, len(columns)) // by content: the shortest name
	for i := range columns {
		name := columns[i].Name
		if have, ok := first[contents[i]]; !ok || byLength(name, have) < 0 {
			first[contents[i]] = name
		}
	}
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := first[contents[i]], first[contents[j]]
		return cmp.Or(cmp.Compare(a, b), byLength(columns[i].Name, columns[j].Name))
	})
	return order
}

// HashContent returns the hash of the encoded content of a column.
func HashContent(encoded []byte) uint64 { return hashBytes(0, encoded) }

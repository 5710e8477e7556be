package dataset_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// rowsOf returns objects of rows of codes, with the class of each row. The codes of feature f become recoded[f][code].
func rowsOf(rows [][]int, classes []uint16, order, features []int, recoded [][]int) *dataset.Objects {
	list := make([]dataset.Feature, len(features))
	for i := range list {
		list[i] = dataset.Feature{Name: string(rune('a' + i)), Kind: dataset.Categorical, Values: make([]string, 5)}
	}
	o := dataset.NewObjects(dataset.NewLayout(list), 2, false, len(rows))
	for _, i := range order {
		codes := make([]int, len(features))
		for at, f := range features {
			codes[at] = recoded[f][rows[i][f]]
		}
		o.Append(codes, []dataset.ClassWeight{{Class: classes[i], Weight: 1}}, 1)
	}
	return o
}

// TestShuffled: neither the order of the objects, nor the order, the codes and the copies of features, nor the names of
// classes change the order in which objects are shuffled; the class of a row does.
func TestShuffled(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	const n = 60
	same := []int{0, 1, 2, 3, 4}
	codes := [][]int{same, same, same}
	seen := map[[3]int]bool{}
	var rows [][]int
	var classes []uint16
	for len(rows) < n {
		row := [3]int{r.IntN(5), r.IntN(5), r.IntN(5)}
		if !seen[row] {
			seen[row] = true
			rows, classes = append(rows, row[:]), append(classes, uint16(r.IntN(2)))
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	shuffled := func(order, features []int, recoded [][]int) (list []int) {
		for _, id := range rowsOf(rows, classes, order, features, recoded).Shuffled() {
			list = append(list, order[id])
		}
		return list
	}
	want := shuffled(order, []int{0, 1, 2}, codes)
	for name, got := range map[string][]int{
		"rows in another order":     shuffled(r.Perm(n), []int{0, 1, 2}, codes),
		"features in another order": shuffled(order, []int{2, 0, 1}, codes),
		"a copy":                    shuffled(order, []int{1, 0, 1, 2, 2}, codes),
		"other codes":               shuffled(order, []int{0, 1, 2}, [][]int{{4, 2, 0, 1, 3}, same, {4, 3, 2, 1, 0}}),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for i := range classes {
		classes[i] = 1 - classes[i]
	}
	if got := shuffled(order, []int{0, 1, 2}, codes); !slices.Equal(got, want) {
		t.Errorf("classes with each other's names: %v, want %v", got, want)
	}
	classes[want[0]] = 1 - classes[want[0]]
	if slices.Equal(shuffled(order, []int{0, 1, 2}, codes), want) {
		t.Error("a row of another class: the same order")
	}
}

// TestDistinct: a feature with the codes of an earlier one is its copy.
func TestDistinct(t *testing.T) {
	rows := [][]int{{0, 1}, {1, 1}, {2, 0}}
	same := []int{0, 1, 2}
	o := rowsOf(rows, make([]uint16, 3), []int{0, 1, 2}, []int{1, 0, 1, 0}, [][]int{same, same})
	if features, of := o.Distinct(); !slices.Equal(features, []int{0, 1}) || !slices.Equal(of, []int{0, 1, 0, 1}) {
		t.Errorf("features %v, copies of %v", features, of)
	}
}

// TestTestOrder: by name; a copy with a longer name moves no other column, whichever name comes first.
func TestTestOrder(t *testing.T) {
	for _, test := range []struct {
		names    string
		contents []uint64
		want     string
	}{
		{"cab", []uint64{1, 2, 3}, "abc"},
		{"bac", []uint64{1, 1, 2}, "abc"},
	} {
		if got := inOrder(test.names, test.contents); got != test.want {
			t.Errorf("%s with the contents %v: %s, want %s", test.names, test.contents, got, test.want)
		}
	}
	columns := []dataset.FeatureColumn{{Name: "a copy of c"}, {Name: "c"}, {Name: "b"}, {Name: "zz"}}
	if got := dataset.TestOrder(columns, []uint64{1, 1, 2, 2}); !slices.Equal(got, []int{2, 3, 1, 0}) {
		t.Errorf("with copies: %v, want b, its copy, c and its copy", got)
	}
}

func inOrder(names string, contents []uint64) string {
	var list []string
	columns := make([]dataset.FeatureColumn, len(names))
	for i := range columns {
		columns[i].Name = names[i : i+1]
	}
	for _, i := range dataset.TestOrder(columns, contents) {
		list = append(list, names[i:i+1])
	}
	return strings.Join(list, "")
}

package tree_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestWalk: a walk has each node below its start once, in the order of a recursion.
func TestWalk(t *testing.T) {
	for _, family := range families() {
		tr := randomTree(rand.New(rand.NewPCG(4, 5)), family, 200)
		var below func(node int) []int
		below = func(node int) []int {
			list := []int{node}
			for _, b := range tr.Nodes[node].Branches {
				list = append(list, below(b.Child)...)
			}
			return list
		}
		for start := range tr.Nodes {
			var got []int
			for id, n := range tr.Walk(start) {
				if n != &tr.Nodes[id] {
					t.Fatalf("%s: node %d is another node", family, id)
				}
				got = append(got, id)
			}
			if want := below(start); !slices.Equal(got, want) {
				t.Fatalf("%s: the walk from %d is %v, want %v", family, start, got, want)
			}
		}
		for id := range tr.Walk(0) { // a loop may end early
			if id > 0 {
				break
			}
		}
	}
}

// The leaves of a tree, from left to right.
func ExampleTree_Walk() {
	t := smallTree() // of tree.Decode
	for id, n := range t.Walk(0) {
		if n.Leaf() {
			fmt.Println("leaf", id, t.Label.Classes[n.Class], n.Probabilities)
		}
	}
	// Output:
	// leaf 1 n [1 0]
	// leaf 3 p [0 1]
	// leaf 4 p [0.4 0.6]
}

// TestRead: a reader gives the tree of its bytes, its own error, or the error of a damaged file.
func TestRead(t *testing.T) {
	want := randomTree(rand.New(rand.NewPCG(4, 5)), split.Both, 200).Encode()
	got, err := tree.Read(iotest.OneByteReader(bytes.NewReader(want)))
	if err != nil || !bytes.Equal(got.Encode(), want) {
		t.Errorf("another tree is read: %v", err)
	}
	broken := errors.New("broken")
	if _, err := tree.Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if _, err := tree.Read(strings.NewReader("{}")); err == nil {
		t.Error("no tree: no error")
	}
}

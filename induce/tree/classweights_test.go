package tree_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
)

// TestClassWeights: class_weights of a tree that grew from the classes of rows are the rows' own, and the weights
// by majority class have the longer name. Documents of 0.3, which have the weights by majority class as
// class_weights, are read with the same meaning and keep their bytes. Other trees keep theirs.
func TestClassWeights(t *testing.T) {
	for name, classes := range map[string]string{"rows": tree.ClassesOfRows, "objects": ""} {
		grown := stump([]int64{1417, 1363}, []int64{1417, 4})
		grown.Algorithm.Name, grown.Algorithm.LeafEstimate, grown.Algorithm.Classes = "c45", "raw", classes
		for i := range grown.Nodes {
			grown.Nodes[i].ClassWeights = slices.Clone(grown.Nodes[i].RawClassWeights)
		}
		grown.Nodes[1].ClassWeights = []int64{1421, 0}
		encoded := grown.Encode()
		plain := "\"class_weights\": [1421, 0],\n      \"raw_class_weights\": [1417, 4]"
		if classes != "" {
			plain = "\"class_weights\": [1417, 4],\n      \"majority_class_weights\": [1421, 0],\n      \"raw_class_weights\": [1417, 4]"
		}
		if n := strings.Count(string(encoded), "majority_class_weights"); !bytes.Contains(encoded, []byte(plain)) || n > 1 || n == 1 != (classes != "") {
			t.Errorf("%s: no %s in\n%s", name, plain, encoded)
		}
		dated := bytes.Replace(encoded, []byte(plain), []byte("\"class_weights\": [1421, 0],\n      \"raw_class_weights\": [1417, 4]"), 1)
		for form, content := range map[string][]byte{"now": encoded, "0.3": dated} {
			read, err := tree.Decode(content)
			if err != nil {
				t.Fatal(err)
			}
			if n := &read.Nodes[1]; !slices.Equal(n.ClassWeights, []int64{1421, 0}) || !slices.Equal(n.RawClassWeights, []int64{1417, 4}) {
				t.Errorf("%s, %s: read as %v and %v", name, form, n.ClassWeights, n.RawClassWeights)
			}
			if got := read.Encode(); !bytes.Equal(got, content) {
				t.Errorf("%s, %s: written as\n%s, want\n%s", name, form, got, content)
			}
		}
	}
}

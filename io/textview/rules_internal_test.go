package textview

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/induce/region"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestCodesOf: every code of a test takes one branch, that which the scorer gives, so each row fulfils exactly the rule of its leaf.
func TestCodesOf(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, file := range []string{"both", "multiway", "onehot", "threshold", "dated"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "induce", "tree", "testdata", "golden", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := tree.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		scorer := m.Scorer()
		for range 300 {
			drawn := make([]int, len(m.Features))
			var values []tree.Value
			for _, in := range scorer.Features() {
				f := &m.Features[in.Feature]
				code, value := r.IntN(f.Codes()), tree.Value{}
				switch {
				case code == f.MissingCode():
				case code == f.OtherCode():
					value = tree.Text("none of the values")
				case f.OtherCode() >= 0:
					value = tree.Text(f.Values[code])
				case code == 0:
					value = tree.Number(f.Cuts[0] - 1)
				default:
					value = tree.Number(f.Cuts[code-1])
				}
				drawn[in.Feature], values = code, append(values, value)
			}
			want, err := scorer.Predict(values)
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for n := &m.Nodes[0]; !n.Leaf(); n = &m.Nodes[at] {
				f := &m.Features[n.Test.Feature]
				var takes []int
				for k := range n.Branches {
					if region.Has(region.Of(n, f, k), drawn[n.Test.Feature]) {
						takes = append(takes, k)
					}
				}
				if len(takes) != 1 {
					t.Fatalf("%s: node %d: code %d takes the branches %v", file, at, drawn[n.Test.Feature], takes)
				}
				at = n.Branches[takes[0]].Child
			}
			if at != want.Leaf {
				t.Errorf("%s: codes %v: leaf %d, want %d", file, drawn, at, want.Leaf)
			}
		}
	}
}

package export_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
)

// A tree as a module of Python; the conditions are printed.
func Example() {
	b, err := os.ReadFile("../../induce/tree/testdata/golden/small.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := tree.Decode(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	var source strings.Builder
	if err := export.Write(&source, t, export.Options{Format: "python"}); err != nil {
		fmt.Println(err)
		return
	}
	_, walk, _ := strings.Cut(source.String(), "def _walk0")
	walk, _, _ = strings.Cut(walk, "\n\n\n")
	fmt.Println("def _walk0" + walk)
	// Output:
	// def _walk0(v: _Values) -> int:
	//     if v.number(AGE) >= 30.5:
	//         return 0  # leaf 1: "n"
	//     else:
	//         if same(v.text(JOB), "b"):
	//             return 1  # leaf 3: "p"
	//         else:
	//             return 2  # leaf 4: "p"
}

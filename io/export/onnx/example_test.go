package onnx_test

import (
	"fmt"
	"os"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export/onnx"
)

// A tree as a model of ONNX; its first bytes are printed.
func Example() {
	b, err := os.ReadFile("../../../induce/tree/testdata/golden/small.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := tree.Decode(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := onnx.Encode(t, "model", "a small tree", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", model[:12])
	// Output:
	// "\b\b\x12\bespalier"
}

package pmml_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export/pmml"
)

// A tree as a PMML document; a part of its nodes is printed.
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
	document, err := pmml.Encode(t, "model", []string{"A small tree."}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, nodes, _ := strings.Cut(string(document), "<Node ")
	nodes, _, _ = strings.Cut(nodes, "<Node id=\"2\"")
	fmt.Print("<Node " + nodes)
	// Output:
	// <Node id="0" score="n">
	//    <True/>
	//    <Node id="1" score="n">
	//     <SimplePredicate field="age" operator="greaterOrEqual" value="30.5"/>
	//     <ScoreDistribution value="n" recordCount="8" probability="1"/>
	//     <ScoreDistribution value="p" recordCount="0" probability="0"/>
	//    </Node>
}

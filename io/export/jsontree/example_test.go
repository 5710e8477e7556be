package jsontree_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export/jsontree"
)

// A tree as a JSON document for interpreters; what follows its first line is printed.
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
	document, err := jsontree.Encode(t, []string{"A small tree."}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, nodes, _ := strings.Cut(string(document), "\n")
	fmt.Print(nodes)
	// Output:
	// "nodes": [
	//  {"id":0,"feature":"age","test":"at_least","value":30.5,"yes":1,"no":2,"missing":2},
	//  {"id":1,"class":"n","probabilities":[1,0],"tests":1,"cost":3},
	//  {"id":2,"feature":"job","test":"is","value":"b","yes":3,"no":4,"missing":4},
	//  {"id":3,"class":"p","probabilities":[0,1],"tests":2,"cost":5},
	//  {"id":4,"class":"p","probabilities":[0.4,0.6],"tests":2,"cost":5}
	// ]
	// }
}

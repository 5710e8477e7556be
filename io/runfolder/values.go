package runfolder

import "strings"

// Values says which values of rows a document may contain, in addition to the names of columns, files and classes, and
// to figures. docs/files.md lists the documents by it, and a test looks for planted values in all of them.
type Values uint8

// The values that a document may contain.
const (
	TestedValues   Values = 1 << iota // cuts and categories of the features that its trees test
	FrontierValues                    // cuts and categories of the features that some tree of the frontier tests
	AllValues                         // cuts and categories of all features
	Ends                              // the lowest and the highest number, each of --min_value_rows rows
	SliceValues                       // values of columns of --slice
	NewValues                         // categories that training did not have
	RowValues                         // values of single rows
)

// String describes the values for reading.
func (v Values) String() string {
	kinds := "cuts, categories"
	if v&Ends != 0 {
		kinds += ", ends"
	}
	var list []string
	switch {
	case v&RowValues != 0:
		return "values of rows"
	case v&AllValues != 0:
		list = append(list, "all features: "+kinds)
	case v&FrontierValues != 0:
		list = append(list, "on the frontier: "+kinds)
	case v&TestedValues != 0:
		list = append(list, "tested features: "+kinds)
	}
	if v&SliceValues != 0 {
		list = append(list, "`--slice`")
	}
	if v&NewValues != 0 {
		list = append(list, "new categories")
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, "; ")
}

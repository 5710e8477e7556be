package csvio_test

import (
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/io/csvio"
)

// The types of two columns are inferred from their values.
func Example() {
	file := "day;price\n2024-01-31;1.5\n2024-02-01;2\n"
	r, err := csvio.NewReader(strings.NewReader(file), csvio.Options{File: "prices.csv"})
	if err != nil {
		fmt.Println(err)
		return
	}
	columns := make([]*csvio.Column, len(r.Columns()))
	for i := range columns {
		columns[i] = csvio.NewColumn(&csvio.Spelling{})
	}
	for fields, err := r.Read(); err == nil; fields, err = r.Read() {
		for i, text := range fields {
			columns[i].Add(text, r.Line(i))
		}
	}
	for i, name := range r.Columns() {
		fmt.Println(name, columns[i].Kind())
	}
	// Output:
	// day date
	// price number
}

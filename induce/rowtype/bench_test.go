package rowtype_test

import (
	"reflect"
	"testing"

	"github.com/espalier-ml/espalier/induce/rowtype"
)

// BenchmarkRead reads rows with two columns of each type.
func BenchmarkRead(b *testing.B) {
	type row struct {
		A, B float64
		C, D string
		E, F int
		G, H *float64
	}
	x := 7.0
	var r any = row{1, 2, "three", "four", 5, 6, &x, nil}
	schema, err := rowtype.SchemaOf(reflect.TypeOf(r))
	if err != nil {
		b.Fatal(err)
	}
	reader, err := schema.Reader(schema.Names())
	if err != nil {
		b.Fatal(err)
	}
	var cells []rowtype.Cell
	for b.Loop() {
		if cells, err = reader.Read(r, cells[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

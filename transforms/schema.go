package transforms

import (
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"

	"github.com/espalier-ml/espalier/induce/rowtype"
)

// schemaOf returns how to read the rows of a PCollection.
func schemaOf(rows beam.PCollection) (*rowtype.Schema, error) {
	if !rows.IsValid() {
		return nil, errors.New("the PCollection of rows is not valid")
	}
	t := rows.Type()
	if typex.IsComposite(t.Type()) {
		return nil, fmt.Errorf("rows are of type %v, want a struct, or a map from string: put a key into the row, or drop "+
			"it with beam.DropKey", t)
	}
	return rowtype.SchemaOf(t.Type())
}

// schemaOfRows is schemaOf for rows that may have keys: a PCollection<KV<K, T>>.
func schemaOfRows(rows beam.PCollection) (schema *rowtype.Schema, keyed bool, err error) {
	if rows.IsValid() && typex.IsKV(rows.Type()) {
		schema, err = rowtype.SchemaOf(rows.Type().Components()[1].Type())
		return schema, true, err
	}
	schema, err = schemaOf(rows)
	return schema, false, err
}

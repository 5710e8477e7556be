package gcsstore_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

// A store serves gs:// URLs once the driver is registered. The driver looks for
// credentials at its first request, so a program may register it in any case.
func ExampleNew() {
	store := objectstore.New()
	store.Register("gs", gcsstore.New(httpstore.Options{Attempts: 3}))
	fmt.Println(store.Check("gs://bucket/folder/rows.parquet"))
	fmt.Println(store.Check("gs:/b/x"))
	// Output:
	// <nil>
	// gs:/b/x: a URL has two slashes behind the colon: did you mean gs://b/x? A file of that name is ./gs:/b/x
}

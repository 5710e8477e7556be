package s3store_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
)

// A store serves s3:// URLs once the driver is registered. The driver looks for
// credentials at its first request, so a program may register it in any case.
func ExampleNew() {
	store := objectstore.New()
	store.Register("s3", s3store.New(httpstore.Options{Attempts: 3}))
	fmt.Println(store.Check("s3://bucket/folder/rows.parquet"))
	fmt.Println(store.Check("s3:/b/x"))
	// Output:
	// <nil>
	// s3:/b/x: a URL has two slashes behind the colon: did you mean s3://b/x? A file of that name is ./s3:/b/x
}

package s3store_test

import (
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest/s3test"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
)

func BenchmarkReadAt(b *testing.B) {
	s3test.Use(b, s3test.Start(b, "bucket"))
	store := objectstore.New()
	store.Register("s3", s3store.New(httpstore.Options{}))
	objectstoretest.BenchmarkReadAt(b, store, "s3://bucket/x")
}

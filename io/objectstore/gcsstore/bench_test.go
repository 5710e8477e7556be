package gcsstore_test

import (
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest/gcstest"
)

func BenchmarkReadAt(b *testing.B) {
	gcstest.Use(b, gcstest.Start(b, "bucket"))
	store := objectstore.New()
	store.Register("gs", gcsstore.New(httpstore.Options{}))
	objectstoretest.BenchmarkReadAt(b, store, "gs://bucket/x")
}

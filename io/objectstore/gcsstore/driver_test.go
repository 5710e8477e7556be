package gcsstore_test

import (
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest/gcstest"
)

// newStore returns a store with the driver under test for the server with the
// given URL, and a folder in it.
func newStore(t *testing.T, url string, o httpstore.Options) (store *objectstore.Store, baseURL string) {
	t.Helper()
	gcstest.Use(t, url)
	store = objectstore.New()
	store.Register("gs", gcsstore.New(o))
	return store, "gs://bucket/folder"
}

// largeObject is sent in two pieces.
const largeObject = 9<<20 + 17

func TestConformance(t *testing.T) {
	objectstoretest.Run(t, func(t *testing.T) (*objectstore.Store, string) {
		t.Helper()
		return newStore(t, gcstest.Start(t, "bucket"), httpstore.Options{})
	})
}

func TestFaults(t *testing.T) {
	objectstoretest.RunFaults(t, objectstoretest.Remote{
		Start: func(t *testing.T) string { t.Helper(); return gcstest.Start(t, "bucket") },
		New:   newStore,
		Large: largeObject,
	})
}

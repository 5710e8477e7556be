package s3store_test

import (
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest/s3test"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
)

// newStore returns a store with the driver under test for the server with the
// given URL, and a folder that no other test uses.
func newStore(t *testing.T, url string, o httpstore.Options) (store *objectstore.Store, baseURL string) {
	t.Helper()
	s3test.Use(t, url)
	store = objectstore.New()
	store.Register("s3", s3store.New(o))
	return store, "s3://bucket/" + t.Name()
}

// largeObject is sent as two parts.
const largeObject = 9<<20 + 17

func TestConformance(t *testing.T) {
	objectstoretest.Run(t, func(t *testing.T) (*objectstore.Store, string) {
		t.Helper()
		return newStore(t, s3test.Start(t, "bucket"), httpstore.Options{})
	})
}

func TestFaults(t *testing.T) {
	objectstoretest.RunFaults(t, objectstoretest.Remote{
		Start: func(t *testing.T) string { t.Helper(); return s3test.Start(t, "bucket") },
		New:   newStore,
		Large: largeObject,
	})
}

func TestConformanceVersityGW(t *testing.T) {
	url := s3test.StartVersityGW(t, "bucket")
	objectstoretest.Run(t, func(t *testing.T) (*objectstore.Store, string) {
		t.Helper()
		return newStore(t, url, httpstore.Options{})
	})
}

func TestFaultsVersityGW(t *testing.T) {
	url := s3test.StartVersityGW(t, "bucket")
	objectstoretest.RunFaults(t, objectstoretest.Remote{
		Start: func(*testing.T) string { return url },
		New:   newStore,
		Large: largeObject,
	})
}

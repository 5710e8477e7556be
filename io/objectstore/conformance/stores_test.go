package conformance_test

import (
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
)

func TestFile(t *testing.T) {
	runContract(t, func(t *testing.T) (*objectstore.Store, string) {
		t.Helper()
		return objectstore.New(), t.TempDir()
	})
}

func TestFileURL(t *testing.T) {
	runContract(t, func(t *testing.T) (*objectstore.Store, string) {
		t.Helper()
		return objectstore.New(), "file://" + t.TempDir()
	})
}

func TestRelativePath(t *testing.T) {
	runContract(t, func(t *testing.T) (*objectstore.Store, string) {
		t.Helper()
		t.Chdir(t.TempDir())
		return objectstore.New(), "folder"
	})
}

func TestMemory(t *testing.T) {
	runContract(t, func(t *testing.T) (*objectstore.Store, string) {
		t.Helper()
		return objectstore.New(), "mem:/" + t.TempDir() // a different name in each run
	})
}

func TestGCS(t *testing.T) {
	longtest.Skip(t)
	runRemote(t, gcs)
}

func TestS3(t *testing.T) {
	longtest.Skip(t)
	runRemote(t, s3)
}

func TestVersityGW(t *testing.T) {
	url := startVersityGW(t, "bucket")
	runRemote(t, remoteStore{start: func(testing.TB) string { return url }, open: openS3})
}

func BenchmarkReadAt(b *testing.B) {
	b.Run("store=gs", func(b *testing.B) { readAt(b, gcs) })
	b.Run("store=s3", func(b *testing.B) { readAt(b, s3) })
}

// runRemote checks the contract, and the behaviour at faults, of a store over HTTP.
func runRemote(t *testing.T, remote remoteStore) {
	t.Helper()
	t.Run("Contract", func(t *testing.T) {
		runContract(t, func(t *testing.T) (*objectstore.Store, string) {
			t.Helper()
			return remote.open(t, remote.start(t), httpstore.Options{})
		})
	})
	t.Run("Faults", func(t *testing.T) { runFaults(t, remote) })
}

var (
	gcs = remoteStore{ // the emulator of Cloud Storage, and its driver
		start: func(tb testing.TB) string { tb.Helper(); return objectstoretest.StartGCS(tb, "bucket") },
		open: func(tb testing.TB, url string, o httpstore.Options) (*objectstore.Store, string) {
			tb.Helper()
			objectstoretest.UseGCS(tb, url)
			store := objectstore.New()
			store.Register("gs", gcsstore.New(o))
			return store, "gs://bucket/folder"
		},
	}
	s3 = remoteStore{ // the emulator of S3, and its driver
		start: func(tb testing.TB) string { tb.Helper(); return objectstoretest.StartS3(tb, "bucket") },
		open:  openS3,
	}
)

func openS3(tb testing.TB, url string, o httpstore.Options) (store *objectstore.Store, baseURL string) {
	tb.Helper()
	objectstoretest.UseS3(tb, url)
	store = objectstore.New()
	store.Register("s3", s3store.New(o))
	return store, "s3://bucket/" + tb.Name()
}

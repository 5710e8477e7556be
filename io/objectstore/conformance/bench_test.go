package conformance_test

import (
	"fmt"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

// readAt writes an object and reads ranges of it. Emulators share the machine, so it measures the cost of
// a request, not the speed of a service.
func readAt(b *testing.B, remote remoteStore) {
	b.Helper()
	store, base := remote.open(b, remote.start(b), httpstore.Options{})
	url := base + "/x"
	w, err := store.Create(b.Context(), url, objectstore.WriteOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 8<<20)); err != nil {
		b.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{64 << 10, 1 << 20, 8 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			r, err := store.Open(b.Context(), url)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			b.SetBytes(int64(size))
			b.RunParallel(func(pb *testing.PB) {
				p := make([]byte, size)
				for pb.Next() {
					if _, err := r.ReadAt(p, 0); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

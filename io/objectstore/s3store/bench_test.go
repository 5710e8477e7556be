package s3store_test

import (
	"fmt"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest/s3test"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
)

// BenchmarkReadAt reads ranges from the emulator, which shares the machine: it
// measures what a request costs, not what the service can do.
func BenchmarkReadAt(b *testing.B) {
	s3test.Use(b, s3test.Start(b, "bucket"))
	s := objectstore.New()
	s.Register("s3", s3store.New(httpstore.Options{}))
	w, err := s.Create(b.Context(), "s3://bucket/x", objectstore.WriteOptions{})
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
			r, err := s.Open(b.Context(), "s3://bucket/x")
			if err != nil {
				b.Fatal(err)
			}
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

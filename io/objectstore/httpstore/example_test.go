package httpstore_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

// The zero options have defaults. A pause doubles with each failure in a row, and a
// random part of it is left out.
func ExampleOptions() {
	o := httpstore.Options{}.WithDefaults()
	fmt.Println(o.Attempts, o.BusyAttempts, o.RetryTime, o.IdleTimeout, o.Backoff, o.MaxBackoff)
	fmt.Println(o.Pause(1) <= o.Backoff, o.Pause(100) <= o.MaxBackoff)
	// Output:
	// 8 36 3m0s 30s 200ms 10s
	// true true
}

// The path behind the scheme of a URL is a bucket and a key.
func ExampleSplitPath() {
	bucket, key := httpstore.SplitPath("bucket/folder/rows.parquet")
	fmt.Println(bucket, key)
	// Output: bucket folder/rows.parquet
}

package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// A write becomes visible at its commit. A write bound to the absence of its object
// never replaces one.
func Example() {
	ctx, store := context.Background(), objectstore.New()
	write := func(text string) error {
		w, err := store.Create(ctx, "mem://example/a.txt", objectstore.WriteOptions{IfAbsent: true})
		if err != nil {
			return err
		}
		defer w.Abort() //nolint:errcheck // after Commit it does nothing
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return w.Commit()
	}
	fmt.Println(write("first"))
	fmt.Println(errors.Is(write("second"), fs.ErrExist))
	b, err := store.ReadAll(ctx, "mem://example/a.txt", 100)
	fmt.Printf("%s, %v\n", b, err)
	objects, err := store.List(ctx, "mem://example/*.txt")
	fmt.Println(len(objects), objects[0].URL, objects[0].Size, err)
	// Output:
	// <nil>
	// true
	// first, <nil>
	// 1 mem://example/a.txt 5 <nil>
}

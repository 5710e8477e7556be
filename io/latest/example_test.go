package latest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// A run is promoted, and found by those who use the model.
func Example() {
	ctx, store := context.Background(), objectstore.New()
	tree := []byte("the tree of a day")
	_, err := objectstore.WriteSeen(ctx, store, "mem://models/2026-11-23/tree.json", tree, objectstore.WriteOptions{})
	if err != nil {
		fmt.Println(err)
	}
	before, err := latest.Read(ctx, store, "mem://models") // nil: the first run
	if err != nil {
		fmt.Println(err)
	}
	if _, err := latest.Promote(ctx, store, "mem://models", latest.Pointer{Run: "2026-11-23", Promoted: time.Now()}, before); err != nil {
		fmt.Println(err)
	}
	fmt.Println(latest.Resolve(ctx, store, "mem://models/LATEST.json"))
	// Output:
	// mem://models/2026-11-23 <nil>
}

package objectcache_test

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/objectcache"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// A day's objects serve again until its file changes.
func ExampleCache_Plan() {
	ctx := context.Background()
	rows := &jobs.RowSpec{Label: "class"}
	features := []dataset.Feature{{Name: "age", Kind: dataset.Numeric, Cuts: []float64{40}}}
	cache := objectcache.Open(objectstore.New(), "mem://cache", rows, features, []string{"no", "yes"}, 64)
	monday, tuesday := objectcache.File{URL: "monday.parquet", Size: 10}, objectcache.File{URL: "tuesday.parquet", Size: 10}
	if err := cache.Put(ctx, &objectcache.Entry{Files: []objectcache.File{monday}, Rows: jobs.RowStats{Rows: 1000}}); err != nil {
		panic(err)
	}
	plan, err := cache.Plan(ctx, []objectcache.File{monday, tuesday})
	fmt.Println(plan.Rows().Rows, plan.Lacking, err)
	monday.Size++
	plan, err = cache.Plan(ctx, []objectcache.File{monday, tuesday})
	fmt.Println(plan.Rows().Rows, plan.Lacking, err)
	// Output:
	// 1000 [1] <nil>
	// 0 [0 1] <nil>
}

package jobs

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"github.com/espalier-ml/espalier/transforms/elements"
)

// TestReport: the goroutines of concurrent bundles count. Each count is in the bundles'
// counters once, and also in the counts of this process.
func TestReport(t *testing.T) {
	const (
		bundles = 8
		each    = 500
	)
	elements.LocalProgress().Reset()
	t.Cleanup(elements.LocalProgress().Reset)
	stores := make([]*metrics.Store, bundles)
	var wg sync.WaitGroup
	for b := range bundles {
		ctx := metrics.SetPTransformID(metrics.SetBundleID(context.Background(), strconv.Itoa(b)), "step")
		stores[b] = metrics.GetStore(ctx)
		wg.Go(func() {
			for range each {
				var parts sync.WaitGroup
				for range 3 {
					parts.Go(func() { elements.LocalProgress().Rows.Add(7) })
				}
				elements.LocalProgress().Tasks.Add(1)
				report(ctx)
				parts.Wait()
			}
			if err := reportUntil(ctx, func() error { elements.LocalProgress().Weight.Add(1); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want := map[string]int64{
		"tasks": bundles * each, "rows": bundles * each * 3 * 7, "objects": 0, "nodes": 0,
		"weight": bundles,
	}
	got := make(map[string]int64)
	for _, store := range stores {
		extract(t, store, got)
	}
	here := elements.LocalProgress().Get()
	for name, n := range want {
		if got[name] != n || here[name] != n {
			t.Errorf("%s: %d in the counters and %d here, want %d", name, got[name], here[name], n)
		}
	}
	if len(got) != 3 {
		t.Errorf("counters of nothing: %v", got)
	}
}

// extract adds the counters of a bundle to sums.
func extract(t *testing.T, store *metrics.Store, sums map[string]int64) {
	t.Helper()
	err := metrics.Extractor{
		SumInt64: func(l metrics.Labels, v int64) {
			if l.Namespace() != elements.CounterNamespace {
				t.Errorf("a counter of %s", l.Namespace())
			}
			sums[l.Name()] += v
		},
	}.ExtractFrom(store)
	if err != nil {
		t.Fatal(err)
	}
}

// TestProgressSet: the counts of engines never go back.
func TestProgressSet(t *testing.T) {
	var p elements.Progress
	p.Set(map[string]int64{"rows": 5, "objects": 2})
	p.Set(map[string]int64{"rows": 3, "weight": 9, "unknown": 1})
	if p.Rows.Load() != 5 || p.Objects.Load() != 2 || p.Weight.Load() != 9 {
		t.Errorf("got %v", p.Get())
	}
}

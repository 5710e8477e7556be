package transformstest

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	//nolint:staticcheck // the runner of this process
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
)

// TestFreed: the elements are kept for as long as they can be read, and no longer.
func TestFreed(t *testing.T) {
	opened := func() (n int) {
		collectors.Range(func(any, any) bool { n++; return true })
		return n
	}
	freed := func(want int) bool {
		for range 100 {
			runtime.GC()
			if opened() == want {
				return true
			}
			time.Sleep(10 * time.Millisecond)
		}
		return false
	}
	before := opened()
	var kept *Collected[int]
	if err := Run("direct", func(s beam.Scope) {
		numbers := beam.Create(s, 1, 2, 3)
		kept = Collect[int](s, numbers)
		Collect[int](s, numbers) // nobody reads it
		runtime.GC()
	}); err != nil {
		t.Fatal(err)
	}
	if !freed(before + 1) {
		t.Errorf("%d collectors after the run, want %d", opened(), before+1)
	}
	if got := len(kept.All()); got != 3 {
		t.Errorf("%d elements, want 3", got)
	}
	if !freed(before) {
		t.Errorf("%d collectors after the last use, want %d", opened(), before)
	}
}

// TestOtherProcess: what another process gathers cannot be read here.
func TestOtherProcess(t *testing.T) {
	c := collector{Process: "another", Name: "name"}
	if err := c.collect(1, nil); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("the error is %v", err)
	}
}

package memlimit_test

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/pipelines/memlimit"
)

// TestAllowance: the setting comes first, then the limit of the Go runtime, then the machine.
func TestAllowance(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	if got := memlimit.Allowance(5e9); got != 5e9 {
		t.Errorf("%d bytes of a setting of 5e9", got)
	}
	there := memlimit.Allowance(0)
	if there < 1<<28 || there > 1<<46 {
		t.Errorf("the machine has %d bytes", there)
	}
	debug.SetMemoryLimit(3e9)
	if got := memlimit.Allowance(0); got != 3e9 {
		t.Errorf("%d bytes of a GOMEMLIMIT of 3e9", got)
	}
	if got := memlimit.Allowance(1e9); got != 1e9 {
		t.Errorf("%d bytes of a setting of 1e9 beside GOMEMLIMIT", got)
	}
}

// TestRoom: the budget of a node grows with the memory and shrinks with the workers; what it
// takes on all workers is within the memory, and everything fits in the end.
func TestRoom(t *testing.T) {
	const objects = 10_000_000
	columns := make([]split.Column, 20)
	for i := range columns {
		columns[i] = split.Column{Codes: 513, Numeric: true}
	}
	last := int64(0)
	for memory := int64(64 << 20); memory <= 64<<30; memory *= 2 {
		r := memlimit.Room{Memory: memory, Stride: 40, Columns: columns, Classes: 2, Trees: 20, Workers: 2}
		budget := r.Objects(objects)
		if budget < 0 {
			if !r.Fits(objects, 0) {
				t.Errorf("%d MiB: all nodes are small, but the objects do not fit", memory>>20)
			}
			continue
		}
		if last < 0 || budget < last || budget >= objects {
			t.Errorf("%d MiB: nodes of %d objects are small, with half the memory %d", memory>>20, budget, last)
		}
		many := r
		many.Workers = 16
		if got := many.Objects(objects); got > budget {
			t.Errorf("%d MiB: %d objects with 16 workers, %d with 2", memory>>20, got, budget)
		}
		one := r
		one.Workers = 1
		if taken := 2 * one.OfObjects(budget); taken > r.Usable() && budget > 1<<14 {
			t.Errorf("%d MiB: two nodes of %d objects take %d bytes", memory>>20, budget, taken)
		}
		last = budget
	}
	if last == 0 {
		t.Error("no memory was too small")
	}
	huge := memlimit.Room{Memory: 1 << 40, Stride: 40, Columns: columns, Classes: 2, Trees: 20, Workers: 2}
	if got := huge.Objects(objects); got != -1 {
		t.Errorf("a terabyte: nodes of %d objects are small, want all", got)
	}
}

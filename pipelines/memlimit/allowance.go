package memlimit

import (
	"math"
	"runtime/debug"

	automemlimit "github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
)

// Allowance returns how many bytes of memory this process may use: the setting of --memory. If it
// is 0, the result is GOMEMLIMIT if that is set, otherwise three quarters of the memory of the
// container (its cgroup) or the machine.
func Allowance(setting int64) int64 {
	if setting > 0 {
		return setting
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 { // a negative limit changes nothing
		return limit
	}
	there, err := automemlimit.ApplyFallback(automemlimit.FromCgroup, automemlimit.FromSystem)()
	if err != nil || there == 0 || there > math.MaxInt64 {
		return unknownMemory
	}
	return int64(there / 4 * 3)
}

// unknownMemory is the allowance if the system does not report its memory.
const unknownMemory = 4 << 30

// Room is the memory of a process, and the form of what grows in it.
type Room struct {
	Memory  int64 // bytes that the process may use
	Stride  int   // bytes of an object's codes
	Columns []split.Column
	Classes int
	Soft    bool // whether the objects are soft, see dataset.Objects
	Trees   int  // trees that grow together
	Workers int  // goroutines of the process
}

// objectBytes is the approximate memory of an object in addition to its codes: its classes and
// their weights.
const objectBytes = 16

// softBytes is the memory of a class of a soft object.
const softBytes = 16

// OfObjects returns how many bytes this many objects take while the trees grow.
func (r *Room) OfObjects(objects int64) int64 {
	bytes := int64(r.Stride + objectBytes)
	if r.Soft {
		bytes += int64(softBytes * (r.Classes + 1))
	}
	return objects*bytes +
		inmemory.Bytes(objects, r.Columns, r.Classes, r.Trees, r.Workers)
}

// usable is the share of the memory for objects and their growth. The remaining memory is for the
// program, the trees and garbage.
const usable = 0.6

// Usable returns the bytes for objects and their growth.
func (r *Room) Usable() int64 { return int64(usable * float64(r.Memory)) }

// Fits reports whether all training objects may be grown in memory at once, if the memory also has
// to hold the given number of other bytes.
func (r *Room) Fits(objects, beside int64) bool {
	return objects <= mostInMemory && r.OfObjects(objects)+beside <= r.Usable()
}

// mostInMemory is the greatest number of objects below a node that is grown in memory, because they
// have indexes of 32 bits.
const mostInMemory = math.MaxInt32

// Objects returns the greatest number of objects of a node that is grown in memory; -1: unlimited.
// objects is the number of all training objects. Each worker grows a partition of small nodes, and
// the same amount of memory is reserved for the files from which the partitions come.
func (r *Room) Objects(objects int64) int64 {
	if r.Fits(objects, 0) {
		return -1
	}
	one := *r
	one.Workers = 1
	least := int64(leastBudget)
	most := min(mostInMemory, max(leastBudget, objects))
	for least < most {
		middle := (least + most + 1) / 2
		if 2*int64(max(1, r.Workers))*one.OfObjects(middle) <= r.Usable() {
			least = middle
		} else {
			most = middle - 1
		}
	}
	return least
}

// leastBudget is the least value of the greatest number of objects of a node that is grown in
// memory, unless a setting is lower: smaller values would make too many levels.
const leastBudget = 1 << 14

// Histograms returns the bytes of the histograms of a level: the setting, or less if the memory is
// small.
func (r *Room) Histograms(setting int64) int64 { return min(setting, r.Memory/8) }

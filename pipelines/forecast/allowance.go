package forecast

import (
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Allowance returns the bytes of memory that this process may take: the setting of --memory.
// Where the setting is 0, it is GOMEMLIMIT if that is set, else three quarters of what the
// container (its cgroup) or the machine has.
func Allowance(setting int64) int64 {
	if setting > 0 {
		return setting
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 { // a negative limit changes nothing
		return limit
	}
	there, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil || there == 0 || there > math.MaxInt64 {
		return unknownMemory
	}
	return int64(there / 4 * 3)
}

// unknownMemory is the allowance where the system does not tell its memory.
const unknownMemory = 4 << 30

// Room is the memory of one process, and what growth would hold in it.
type Room struct {
	Memory  int64 // bytes that the process may take
	Stride  int   // bytes of an object's codes
	Trees   int   // that grow together
	Workers int   // goroutines of the process
}

// forkBytes are the bytes of an object in the node of one tree: number, class and weight.
// objectBytes are those that all trees share, beside its codes.
const forkBytes, objectBytes = 14, 24

// OfObjects returns the bytes that growth holds for so many objects, in one piece.
func (r *Room) OfObjects(objects float64) float64 {
	forks := min(float64(r.Trees), maxForks)
	return objects * (float64(r.Stride) + objectBytes + float64(forkBytes*forks))
}

// maxForks is the greatest number of trees that have parted at a large node, about: most of a
// grid begin with the same tests.
const maxForks = 8

// fixedShare is the part of the memory that is not for objects: the program, histograms and
// what waits for the collector.
const fixedShare = 0.4

// Fits reports whether all training objects may be grown in memory at once, beside the given
// bytes.
func (r *Room) Fits(objects, beside float64) bool {
	return r.OfObjects(objects)+beside <= float64((1-fixedShare)*float64(r.Memory))
}

// Objects returns the number of objects up to which a node is grown in memory; -1: any
// number. objects is the number of all training objects. Each worker grows a partition of
// small nodes, so that the memory holds as many partitions as there are workers.
func (r *Room) Objects(objects int64) int64 {
	if r.Fits(float64(objects), 0) {
		return -1
	}
	each := float64((1-fixedShare)*float64(r.Memory)) / float64(2*max(1, r.Workers))
	return max(leastBudget, int64(each/r.OfObjects(1)))
}

// leastBudget is the least number of objects up to which a node is grown in memory, unless a
// setting says less: smaller nodes would make too many levels.
const leastBudget = 1 << 14

// Histograms returns the bytes of the histograms of one level: the setting, or less where the
// memory is small.
func (r *Room) Histograms(setting int64) int64 { return min(setting, r.Memory/8) }

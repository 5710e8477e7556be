package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Garbage is collected before the heap exceeds the bytes that were alive after the last collection
// by mostGarbage percent, and by the greater of slackBytes and leastGarbage percent of them. Training makes large
// objects without pointers, so a collection is cheap. In a large heap, garbage would otherwise take
// most of the memory.
const (
	mostGarbage  = 300
	leastGarbage = 40
	slackBytes   = 96 << 20
)

// garbagePercent returns the percentage of live bytes by which the heap may grow.
func garbagePercent(live uint64) int {
	if live == 0 {
		return mostGarbage
	}
	return int(min(mostGarbage, max(leastGarbage, 100*slackBytes/live)))
}

// boundGarbage sets the percentage after each collection, until the process ends.
//
//nolint:gochecknoglobals // a process has one collector
var boundGarbage = sync.OnceFunc(func() {
	debug.SetGCPercent(mostGarbage)
	afterCollection(mostGarbage)
})

// afterCollection arms a finaliser, which runs after the next collection.
func afterCollection(now int) {
	runtime.SetFinalizer(new(*byte), func(**byte) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		percent := garbagePercent(live[0].Value.Uint64())
		if percent != now {
			debug.SetGCPercent(percent)
		}
		afterCollection(percent)
	})
}

package jobs

import (
	"sync"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/levels"
)

// Handover takes the results of a job that runs in this process, as they are. Its zero value
// is empty, and serves one job.
type Handover struct {
	mu       sync.Mutex
	counters []*levels.PassCounter
	grown    map[int64][]*induce.Node // subtrees by partition
}

// count takes the counts of a bundle.
func (h *Handover) count(c *levels.PassCounter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counters = append(h.counters, c)
}

// grow takes the subtrees of a partition.
func (h *Handover) grow(partition int64, grown []*induce.Node) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grown == nil {
		h.grown = make(map[int64][]*induce.Node)
	}
	h.grown[partition] = grown
}

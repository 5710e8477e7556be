package jobs

import (
	"sync"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Handover takes the results of a job that runs in this process, as they are. Its zero value
// is empty, and serves one job.
type Handover struct {
	mu       sync.Mutex
	counters []*levels.PassCounter
	grown    map[int64][]*induce.Node      // subtrees by partition
	scores   map[int64][]*tree.ScoreCounts // by leavesKey, of each bundle
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

// score takes the counts of a tree and a part of the rows of a bundle.
func (h *Handover) score(key int64, c *tree.ScoreCounts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scores == nil {
		h.scores = make(map[int64][]*tree.ScoreCounts)
	}
	h.scores[key] = append(h.scores[key], c)
}

// scored returns the counts of a part of the rows by tree.
func (h *Handover) scored(part dataset.Part, trees []*tree.Tree) ([]*tree.ScoreCounts, error) {
	counts := make([]*tree.ScoreCounts, len(trees))
	for at, t := range trees {
		bundles := h.scores[leavesKey(at, part)]
		if len(bundles) == 0 {
			counts[at] = t.NewScoreCounts()
			continue
		}
		counts[at] = bundles[0]
		for _, c := range bundles[1:] {
			if err := counts[at].Merge(c.Encode()); err != nil {
				return nil, err
			}
		}
	}
	return counts, nil
}

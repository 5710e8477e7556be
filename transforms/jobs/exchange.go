package jobs

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// inlineBytes is the most that a bundle sends through the runner's own shuffle. Larger
// output goes through files: engines hold a bundle's output in memory, and Flink hangs
// beyond a hundred messages of some MiB.
const inlineBytes = 32 << 20

// exchange carries bulk data from the first half of a job to the second. The shuffle has
// either the data or the name of a file with the data. Every file gets a new name, so
// that a repeated bundle leaves files behind that nobody reads.
type exchange struct {
	folder string // folder of the files; empty: all data go through the shuffle
}

// The last byte of a value says what the bytes before are.
const (
	valueInline = iota // the data
	valueFile          // the URL of a file with the data
)

// send returns the value for b, and writes b to a file unless inline is set. The caller
// must not use b afterwards.
func (x exchange) send(ctx context.Context, b []byte, inline bool) ([]byte, error) {
	progressOf(ctx).Exchanged.Add(int64(len(b)))
	return x.put(ctx, b, inline)
}

// put is send for values that do not count as exchanged.
func (x exchange) put(ctx context.Context, b []byte, inline bool) ([]byte, error) {
	if inline || x.folder == "" {
		return append(b, valueInline), nil
	}
	url := x.folder + "/exchange-" + rand.Text()
	progressOf(ctx).Written.Add(int64(len(b)))
	return append([]byte(url), valueFile), write(ctx, url, b)
}

// receive returns the data of a value of send.
func receive(ctx context.Context, value []byte) ([]byte, error) {
	if len(value) == 0 {
		return nil, elements.ErrValue
	}
	n := len(value) - 1
	switch value[n] {
	case valueInline:
		return value[:n:n], nil
	case valueFile:
		b, err := read(ctx, string(value[:n]))
		if isNotExist(err) {
			err = &dataset.DataError{File: string(value[:n]), Problem: "the file is missing", Hint: objectsHint}
		}
		return b, err
	default:
		return nil, elements.ErrValue
	}
}

// fileValue returns the value for an existing file.
func fileValue(url string) []byte { return append([]byte(url), valueFile) }

// Handover takes the results of a job that runs in this process, as they are. Its zero value
// is empty, and serves one job.
type Handover struct {
	mu       sync.Mutex
	counters []*bylevel.PassCounter
	grown    map[int64][][]tree.Node       // subtrees by partition
	scores   map[int64][]*tree.ScoreCounts // by key, of each bundle
}

// count takes the counts of a bundle.
func (h *Handover) count(c *bylevel.PassCounter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counters = append(h.counters, c)
}

// grow takes the subtrees of a partition.
func (h *Handover) grow(partition int64, grown [][]tree.Node) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grown == nil {
		h.grown = make(map[int64][][]tree.Node)
	}
	h.grown[partition] = grown
}

// score takes the counts of a key of a bundle.
func (h *Handover) score(key int64, c *tree.ScoreCounts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scores == nil {
		h.scores = make(map[int64][]*tree.ScoreCounts)
	}
	h.scores[key] = append(h.scores[key], c)
}

// scored returns the counts of keys, each by a tree.
func (h *Handover) scored(keys []int64, trees []*tree.Tree) ([]*tree.ScoreCounts, error) {
	counts := make([]*tree.ScoreCounts, len(keys))
	for at, key := range keys {
		bundles := h.scores[key]
		if len(bundles) == 0 {
			counts[at] = trees[at].NewScoreCounts()
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

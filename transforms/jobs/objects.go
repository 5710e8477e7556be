package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// ObjectStats counts the objects of a part, or of a single shard of it, and names their blocks.
type ObjectStats struct {
	dataset.ObjectCounts

	Blocks []string `json:"blocks"` // URLs of the object blocks
}

// objectMerger merges the blocks of a part and shard.
type objectMerger struct {
	CoalesceConfig

	spec     RowSpec
	features []dataset.Feature
	layout   dataset.Layout
}

func (f *objectMerger) begin(context.Context) error {
	var err error
	if f.spec, f.features, err = f.open(); err != nil {
		return err
	}
	f.layout = dataset.NewLayout(f.features)
	return nil
}

// merge merges the blocks of a key, and writes the new blocks and their statistics.
func (f *objectMerger) merge(ctx context.Context, key int64, list [][]byte) error {
	first := list[0]
	var err error
	if list, err = f.merged(ctx, key, list); err != nil {
		return err
	}
	stats := f.newStats(key)
	run := rand.Text() // a repeated bundle may make other blocks
	for i, b := range list {
		name := withChecksum(fmt.Sprintf("/objects-%s-%02d-%d-%s", stats.Part, key%int64(f.Shards), i, run), b)
		if err := dataset.EachClasses(b, f.layout, len(f.Classes), stats.Codes, stats.AddObject); err != nil {
			return blockError(first, err)
		}
		url := f.Blocks + name
		progressOf(ctx).Written.Add(int64(len(b)))
		if err := write(ctx, url, b); err != nil {
			return err
		}
		stats.Blocks = append(stats.Blocks, url)
	}
	return write(ctx, statsURL(f.Out, stats.Part, int(key)%f.Shards), elements.MustJSON(stats))
}

// merged returns the blocks of all values of a key, merged.
func (f *objectMerger) merged(ctx context.Context, key int64, list [][]byte) ([][]byte, error) {
	if len(list) == 1 {
		b, err := receive(ctx, list[0])
		return [][]byte{b}, err
	}
	t := newCoder(f.spec, f.features, f.Classes, 1).newTable(f.partOf(int(key)))
	for _, value := range list {
		b, err := receive(ctx, value)
		if err != nil {
			return nil, err
		}
		if err := t.AddBlock(b, len(f.Classes)); err != nil {
			return nil, blockError(value, err)
		}
	}
	return elements.Blocks(t, f.layout.Stride+f.spec.moreBytes()), nil
}

// blockError adds the file of a value to an error, if it has one.
func blockError(value []byte, err error) error {
	if n := len(value) - 1; value[n] != valueInline {
		return fmt.Errorf("%s: %w", value[:n], err)
	}
	return err
}

func statsURL(out string, part dataset.Part, shard int) string {
	return fmt.Sprintf("%s/stats-%s-%02d", out, part, shard)
}

// newStats returns empty statistics for a key. The codes of training rows are counted.
func (f *objectMerger) newStats(key int64) *ObjectStats {
	part := dataset.Part(int(key) / f.Shards)
	counted := f.features
	if part != dataset.Train {
		counted = nil
	}
	return &ObjectStats{ObjectCounts: *dataset.NewObjectCounts(part, len(f.Classes), counted)}
}

// ReadObjectStats returns the statistics of each part, as written by Coalesce for its shards. A
// shard without rows has no file.
func ReadObjectStats(ctx context.Context, c *CoalesceConfig) (*[dataset.Parts]ObjectStats, error) {
	var urls []string
	for part := range dataset.Part(dataset.Parts) {
		for shard := range c.Shards {
			urls = append(urls, statsURL(c.Out, part, shard))
		}
	}
	var all [dataset.Parts]ObjectStats
	for part := range dataset.Part(dataset.Parts) {
		all[part].Part = part
	}
	shards := make([]ObjectStats, len(urls))
	err := readEach(ctx, urls, func(i int, b []byte) error {
		if b == nil {
			return nil
		}
		if err := json.Unmarshal(b, &shards[i]); err != nil {
			return err
		}
		// With thousands of features, the counts of codes of all shards together would fill the
		// memory.
		all[i/c.Shards].AddCodes(shards[i].Codes)
		shards[i].Codes = nil
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range shards { // in their order, which is the order of the blocks
		if shards[i].Blocks != nil {
			all[i/c.Shards].add(&shards[i])
		}
	}
	return &all, nil
}

// add adds the figures and the blocks of a shard, except the rows by feature and code.
func (s *ObjectStats) add(o *ObjectStats) {
	s.Blocks = append(s.Blocks, o.Blocks...)
	s.Add(&o.ObjectCounts)
}

package jobs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// ObjectStats counts the objects of a part, or of a single shard of it, and names their blocks.
type ObjectStats struct {
	dataset.ObjectCounts

	Blocks []string `json:"blocks"`           // URLs of the object blocks
	Shards []int    `json:"shards,omitempty"` // shard of each block
	Cached []string `json:"cached,omitempty"` // URLs of the copies of the blocks
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
		if f.Cache != "" {
			copied := f.Cache + name
			if err := write(ctx, copied, bytes.Clone(b)); err != nil {
				return err
			}
			stats.Cached = append(stats.Cached, copied)
		}
		if err := dataset.EachClasses(b, f.layout, len(f.Classes), stats.Codes, stats.AddObject); err != nil {
			return blockError(first, err)
		}
		url := f.Blocks + name
		progressOf(ctx).Written.Add(int64(len(b)))
		if err := write(ctx, url, b); err != nil {
			return err
		}
		stats.Blocks, stats.Shards = append(stats.Blocks, url), append(stats.Shards, int(key)%f.Shards)
	}
	return write(ctx, statsURL(f.Out, stats.Part, int(key)%f.Shards), MustJSON(stats))
}

// merged returns the blocks of all values of a key, merged.
func (f *objectMerger) merged(ctx context.Context, key int64, list [][]byte) ([][]byte, error) {
	if len(list) == 1 && !isOf(list[0], valueSubtracted) {
		b, err := receive(ctx, list[0])
		return [][]byte{b}, err
	}
	var window, change [][]byte
	for _, value := range list {
		if isOf(value, valueWindow) {
			window = append(window, value)
		} else {
			change = append(change, value)
		}
	}
	t := newCoder(f.spec, f.features, f.Classes, 1).newTable(f.partOf(int(key)))
	if err := f.mergeInto(ctx, t, change); err != nil {
		return nil, err
	}
	stride := f.layout.Stride + f.spec.moreBytes()
	if len(window) == 0 {
		var err error
		if slices.ContainsFunc(change, func(value []byte) bool { return isOf(value, valueSubtracted) }) {
			err = t.DropEmpty()
		}
		return Blocks(t, stride), err
	}
	p := dataset.NewPatch(t, len(f.Classes), blockObjects(stride))
	for _, value := range window {
		b, err := receive(ctx, value)
		if err != nil {
			return nil, err
		}
		if err := p.Apply(b); err != nil {
			return nil, blockError(value, err)
		}
	}
	return p.End()
}

// mergeInto adds the objects of blocks to an empty table, or subtracts them.
func (f *objectMerger) mergeInto(ctx context.Context, t *dataset.Table, list [][]byte) error {
	for _, value := range list {
		b, err := receive(ctx, value)
		if err != nil {
			return err
		}
		merge := t.AddBlock
		if isOf(value, valueSubtracted) {
			merge = t.SubtractBlock
		}
		if err := merge(b, len(f.Classes)); err != nil {
			return blockError(value, err)
		}
	}
	return nil
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
	part, counted := dataset.Part(int(key)/f.Shards), f.features
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
	s.Blocks, s.Shards, s.Cached = append(s.Blocks, o.Blocks...), append(s.Shards, o.Shards...), append(s.Cached, o.Cached...)
	s.Add(&o.ObjectCounts)
}

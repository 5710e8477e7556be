package jobs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// ObjectStats counts the objects of a part, or of one shard of it.
type ObjectStats struct {
	Part         dataset.Part `json:"part"`
	Blocks       []string     `json:"blocks"`           // URLs of the object blocks
	Shards       []int        `json:"shards,omitempty"` // of each block
	Cached       []string     `json:"cached,omitempty"` // URLs of the copies of the blocks
	Rows         int64        `json:"rows"`
	Objects      int64        `json:"objects"`
	Heaviest     int64        `json:"heaviest"` // greatest weight of an object
	Weight       int64        `json:"weight"`
	ClassObjects []int64      `json:"class_objects"`   // by majority class
	ClassWeight  []int64      `json:"class_weight"`    // by majority class; of soft objects by the raw weights
	RawWeight    []int64      `json:"raw_weight"`      // by class of the rows; of soft objects the same as ClassWeight
	Relabelled   []int64      `json:"relabelled"`      // weight of rows whose class is not their object's, by class
	Codes        [][]int64    `json:"codes,omitempty"` // rows by feature and code; nil: not counted
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
		if err := dataset.EachClasses(b, f.layout, len(f.Classes), stats.Codes, stats.addObject); err != nil {
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

// merged returns the blocks of what the values of a key are together.
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

// blockError names the file of a value, if it has one.
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
	return NewObjectStats(part, len(f.Classes), counted)
}

// NewObjectStats returns statistics without objects. counted has the features whose codes are
// counted.
func NewObjectStats(part dataset.Part, classes int, counted []dataset.Feature) *ObjectStats {
	s := &ObjectStats{
		Part: part, ClassObjects: make([]int64, classes), ClassWeight: make([]int64, classes),
		RawWeight: make([]int64, classes), Relabelled: make([]int64, classes),
	}
	for i := range counted {
		s.Codes = append(s.Codes, make([]int64, counted[i].Codes()))
	}
	return s
}

// Count adds objects to the statistics. It counts codes only if Codes has a list for each feature.
func (s *ObjectStats) Count(o *dataset.Objects) {
	for i := range o.Len() {
		s.addObject(o.Labels(i), o.Raw(i), o.RowsOf(i))
	}
	for i, counts := range s.Codes {
		codes := &o.Codes[i]
		for j := range o.Len() {
			counts[codes.At(j)] += o.RowsOf(j)
		}
	}
}

// SetRare sets the features' numbers of rows whose value is missing or in the tail.
func (s *ObjectStats) SetRare(features []dataset.Feature) {
	for i, counts := range s.Codes {
		f := &features[i]
		f.Missing = counts[f.MissingCode()]
		if f.Kind == dataset.Categorical {
			f.Other = counts[f.OtherCode()]
		}
	}
}

// addObject counts one object, from the weights of its labels and its raw class weights.
func (s *ObjectStats) addObject(labels, raw []dataset.ClassWeight, rows int64) {
	k, weight := dataset.Majority(labels)
	if &raw[0] != &labels[0] { // a soft object
		_, weight = dataset.Majority(raw)
		for _, cw := range raw {
			s.ClassWeight[cw.Class] += cw.Weight
		}
	} else {
		s.ClassWeight[k] += weight
	}
	for _, cw := range raw {
		s.RawWeight[cw.Class] += cw.Weight
	}
	s.Objects++
	s.Rows += rows
	s.Weight += weight
	s.Heaviest = max(s.Heaviest, weight)
	s.ClassObjects[k]++
	for _, cw := range labels {
		if cw.Class != k {
			s.Relabelled[cw.Class] += cw.Weight
		}
	}
}

// RelabelledRows returns the number of rows with another class than their object. If rows have
// weights, it is the weight of these rows, without the factors of classes, over the mean weight of a
// training row.
func (s *ObjectStats) RelabelledRows(spec *RowSpec) int64 {
	sum := 0.0
	for k, weight := range s.Relabelled {
		unit := spec.plainScale(s.Part)
		if s.Part == dataset.Train && k < len(spec.ClassWeights) {
			unit *= float64(spec.ClassWeights[k]) / FractionScale
		}
		if weight > 0 {
			sum += float64(weight) / unit
		}
	}
	return int64(math.RoundToEven(sum))
}

// ReadObjectStats returns the statistics of each part, as Coalesce wrote them for its
// shards. A shard without rows has no file.
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
		// The counts of codes of all shards together would fill the memory if there are thousands of features.
		all[i/c.Shards].addCodes(shards[i].Codes)
		shards[i].Codes = nil
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range shards { // in their order, which is that of the blocks
		if shards[i].Blocks != nil {
			all[i/c.Shards].add(&shards[i])
		}
	}
	return &all, nil
}

// add adds the figures of a shard, except for the rows by feature and code.
func (s *ObjectStats) add(o *ObjectStats) {
	s.Blocks, s.Shards, s.Cached = append(s.Blocks, o.Blocks...), append(s.Shards, o.Shards...), append(s.Cached, o.Cached...)
	s.Rows += o.Rows
	s.Objects += o.Objects
	s.Heaviest = max(s.Heaviest, o.Heaviest)
	s.Weight += o.Weight
	s.Relabelled = addTo(s.Relabelled, o.Relabelled)
	s.ClassObjects = addTo(s.ClassObjects, o.ClassObjects)
	s.ClassWeight = addTo(s.ClassWeight, o.ClassWeight)
	s.RawWeight = addTo(s.RawWeight, o.RawWeight)
}

// addCodes adds the rows by feature and code.
func (s *ObjectStats) addCodes(codes [][]int64) {
	if s.Codes == nil {
		s.Codes = make([][]int64, len(codes))
	}
	for i, rows := range codes {
		s.Codes[i] = addTo(s.Codes[i], rows)
	}
}

// addTo adds b to a, element by element. A nil a has zeros.
func addTo(a, b []int64) []int64 {
	if a == nil {
		a = make([]int64, len(b))
	}
	for i, x := range b {
		a[i] += x
	}
	return a
}

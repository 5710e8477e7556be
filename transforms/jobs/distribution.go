package jobs

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// DistributionConfig says which bins and leaves rows are counted by.
type DistributionConfig struct {
	ScoreConfig // Rows has a column for each of Features; the features of the only tree are among them

	Features []byte // as encoded by dataset.EncodeFeatures
	// Groups has, by feature and code, a group of codes. If the rows have a key, the rows of each group are also
	// counted by bucket of keys.
	Groups dataset.CodeCounts
}

// groupSums returns, by feature, the number of groups of codes.
func (c *DistributionConfig) groupSums() []int {
	list := make([]int, len(c.Groups))
	for i, groups := range c.Groups {
		list[i] = int(slices.Max(groups)) + 1
	}
	return list
}

// Distribute counts rows by the codes of each feature, by the leaf of a tree and, if they have a key, by
// bucket of keys and group of codes. tasks is a PCollection<[]byte> of Task, one for each row group. It
// counts all rows that are not refused. ReadDistributed reads the counts.
func Distribute(s beam.Scope, tasks beam.PCollection, c DistributionConfig) {
	v := &distributor{DistributionConfig: c}
	addJob(s.Scope("transforms.Distribute"), tasks,
		&distributeFn{taskFn[*scan[*distributor]]{Job: &scan[*distributor]{Visitor: v}}},
		&mergeCountsFn{mergeFn[*adder[leafCounts]]{Job: &adder[leafCounts]{c.Config}}})
}

type distributeFn struct{ taskFn[*scan[*distributor]] }

// distributor counts rows. The sums of a worker are the rows by feature and code, then by node of the tree,
// then by feature, bucket and group of codes.
type distributor struct {
	DistributionConfig

	encoders []*dataset.Encoder
	columns  []int // by feature
	sums     []int // number of the first sum of each feature, then of the nodes
	groups   []int // by feature: number of groups of codes
	numbers  int   // of sums
}

func (f *distributor) prepare(s *scanned) error {
	features, err := dataset.DecodeFeatures(f.Features)
	if err != nil {
		return err
	}
	s.parts = []dataset.Part{dataset.Train, dataset.Validation, dataset.Test}
	f.encoders = dataset.NewEncoders(features)
	for i := range features {
		f.columns = append(f.columns, s.need(s.given[i]))
		f.sums = append(f.sums, f.numbers)
		f.numbers += features[i].Codes()
	}
	f.sums = append(f.sums, f.numbers)
	f.numbers += len(s.trees[0].Nodes)
	f.groups = f.groupSums()
	for _, groups := range f.groups {
		f.numbers += dataset.Buckets * groups
	}
	return nil
}

func (f *distributor) begin(*scanned) (numbers int) { return f.numbers }

func (f *distributor) visit(ctx context.Context, s *scanned, g *rowGroup, w *scanWorker) error {
	const width = 2
	byBucket := w.numbers[f.sums[len(f.encoders)]+len(s.trees[0].Nodes):]
	w.codes = Resized(w.codes, width*len(w.rows))
	for i, encoder := range f.encoders {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		clear(w.codes) // narrow codes set the first byte alone
		w.scratch = encoder.Encode(&w.columns[f.columns[i]], w.codes, 0, width, w.scratch)
		counts := w.numbers[f.sums[i]:]
		for at, r := range w.rows {
			counts[binary.LittleEndian.Uint16(w.codes[width*at:])] += g.countOf(int(r))
		}
		if len(f.groups) == 0 {
			continue
		}
		for at, r := range w.rows {
			group := f.Groups[i][binary.LittleEndian.Uint16(w.codes[width*at:])]
			byBucket[int(g.buckets[r])*f.groups[i]+int(group)] += g.countOf(int(r))
		}
		byBucket = byBucket[dataset.Buckets*f.groups[i]:]
	}
	leaves := Resized(w.scores[0].Leaves, len(w.rows))
	w.scores[0].Leaves = leaves
	if err := s.trees[0].scorer.Leaves(s.columns(0, w), leaves); err != nil {
		return err
	}
	nodes := w.numbers[f.sums[len(f.encoders)]:]
	for at, leaf := range leaves {
		nodes[leaf] += g.countOf(int(w.rows[at]))
	}
	return nil
}

// counts has none: all that is counted are sums.
func (f *distributor) counts() iter.Seq2[int64, encoder] { return func(func(int64, encoder) bool) {} }

// Distributed has the counts of Distribute.
type Distributed struct {
	Codes [][]int64 // rows by feature and code
	Nodes []int64   // rows by node of the tree; 0 at inner nodes
	// Buckets has, by feature, the rows by bucket of keys and group of codes. nil: the rows have no key.
	Buckets [][dataset.Buckets][]int64
}

// ReadDistributed returns the counts of Distribute.
func ReadDistributed(ctx context.Context, c *DistributionConfig, features []dataset.Feature, nodes int) (*Distributed, error) {
	n := nodes
	groups := c.groupSums()
	for i := range features {
		n += features[i].Codes()
	}
	for _, k := range groups {
		n += dataset.Buckets * k
	}
	sums, err := readNumbers(ctx, c.Out, n)
	if err != nil {
		return nil, err
	}
	next := func(n int) []int64 {
		list := sums[:n:n]
		sums = sums[n:]
		return list
	}
	d := new(Distributed)
	for i := range features {
		d.Codes = append(d.Codes, next(features[i].Codes()))
	}
	d.Nodes = next(nodes)
	for _, k := range groups {
		var buckets [dataset.Buckets][]int64
		for b := range buckets {
			buckets[b] = next(k)
		}
		d.Buckets = append(d.Buckets, buckets)
	}
	return d, nil
}

package jobs

import (
	"context"
	"encoding/binary"
	"iter"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// DistributionConfig says which bins and leaves rows are counted by.
type DistributionConfig struct {
	ScoreConfig // Rows has a column for each of Features; the features of the only tree are among them

	Features []byte // as encoded by dataset.EncodeFeatures
}

// Distribute counts rows by the codes of each feature, and by the leaf of a tree. tasks is a
// PCollection<[]byte> of Task, one for each row group. It counts all rows that
// are not refused. ReadDistributed reads the counts.
func Distribute(s beam.Scope, tasks beam.PCollection, c DistributionConfig) {
	v := &distributor{DistributionConfig: c}
	addJob(s.Scope("transforms.Distribute"), tasks,
		&distributeFn{taskFn[*scan[*distributor]]{Job: &scan[*distributor]{Visitor: v}}},
		&mergeCountsFn{mergeFn[*adder[leafCounts]]{Job: &adder[leafCounts]{c.Config}}})
}

type distributeFn struct{ taskFn[*scan[*distributor]] }

// distributor counts rows. The sums of a worker are the rows by feature and code, then by node of the tree.
type distributor struct {
	DistributionConfig

	encoders []*dataset.Encoder
	columns  []int // by feature
	sums     []int // number of the first sum of each feature, then of the nodes
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
	return nil
}

func (f *distributor) begin(*scanned) (numbers int) { return f.numbers }

func (f *distributor) visit(ctx context.Context, s *scanned, _ *rowGroup, w *scanWorker) error {
	const width = 2
	w.codes = Resized(w.codes, width*len(w.rows))
	for i, encoder := range f.encoders {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		clear(w.codes) // narrow codes set the first byte alone
		w.scratch = encoder.Encode(&w.columns[f.columns[i]], w.codes, 0, width, w.scratch)
		counts := w.numbers[f.sums[i]:]
		for at := 0; at < len(w.codes); at += width {
			counts[binary.LittleEndian.Uint16(w.codes[at:])]++
		}
	}
	leaves := Resized(w.scores[0].Leaves, len(w.rows))
	w.scores[0].Leaves = leaves
	if err := s.trees[0].scorer.Leaves(s.columns(0, w), leaves); err != nil {
		return err
	}
	nodes := w.numbers[f.sums[len(f.encoders)]:]
	for _, leaf := range leaves {
		nodes[leaf]++
	}
	return nil
}

// counts has none: all that is counted are sums.
func (f *distributor) counts() iter.Seq2[int64, encoder] { return func(func(int64, encoder) bool) {} }

// Distributed has the counts of Distribute.
type Distributed struct {
	Codes [][]int64 // rows by feature and code
	Nodes []int64   // rows by node of the tree; 0 at inner nodes
}

// ReadDistributed returns the counts of Distribute.
func ReadDistributed(ctx context.Context, out string, features []dataset.Feature, nodes int) (*Distributed, error) {
	n := nodes
	for i := range features {
		n += features[i].Codes()
	}
	sums, err := readNumbers(ctx, out, n)
	if err != nil {
		return nil, err
	}
	d := new(Distributed)
	for i := range features {
		codes := features[i].Codes()
		d.Codes = append(d.Codes, sums[:codes:codes])
		sums = sums[codes:]
	}
	d.Nodes = sums
	return d, nil
}

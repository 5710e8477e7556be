package jobs

import (
	"context"
	"math"
	"math/bits"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/counting"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// CopiesConfig says which rows and contents are counted.
type CopiesConfig struct {
	Config

	Rows []byte // RowSpec; its features are the columns of the contents
	// Whole and Rest are how many leading zeros a hash has that is counted: a hash of all columns, and of all but one.
	Whole, Rest uint8
}

// Sample sets Whole and Rest, given the greatest number of contents, so that up to some 20,000 hashes of either kind are
// counted. If each row has its own content, a share of copies is then exact to half a per cent.
func (c *CopiesConfig) Sample(contents int64, columns int) {
	zeros := func(hashes int64) uint8 { return uint8(max(0, bits.Len64(uint64(hashes))-15)) }
	c.Whole, c.Rest = zeros(contents), zeros(contents*int64(columns))
}

// Copies counts rows by their contents, see dataset.Copies. tasks is a PCollection<[]byte> of Task, one for each row
// group. ReadCopies reads the result.
func Copies(s beam.Scope, tasks beam.PCollection, c CopiesConfig) {
	addJob(s.Scope("transforms.Copies"), tasks, &copiesFn{taskFn[*copies]{Job: &copies{CopiesConfig: c}}},
		&mergeHashesFn{mergeFn[*adder[hashCounts]]{Job: &adder[hashCounts]{c.Config}}})
}

type copiesFn struct{ taskFn[*copies] }

// copies counts the rows of a bundle. The words of an entry are the hash of a content, 0, and the hash of a label, or the
// hash of a content without a column, an odd number of this column, and the hash of the content. The counters are the
// rows by part.
type copies struct {
	CopiesConfig

	spec  *RowSpec
	mu    sync.Mutex // of table
	table *counting.Table
}

func shapeOfCopies() counting.Shape { return counting.Shape{Words: 3, Counters: dataset.Parts} }

func (f *copies) ahead() int { return rowGroupsAhead }

func (f *copies) begin(ctx context.Context) (err error) {
	f.table = counting.New(shapeOfCopies())
	f.spec, err = readRows(ctx, f.Rows)
	return err
}

func (f *copies) do(ctx context.Context, p *pool, t Task, _ func(int64, []byte)) error {
	return eachPiece(ctx, p, f.spec, t, func(ctx context.Context, g *rowGroup, _ int) error {
		if err := g.prepare(); err != nil {
			return err
		}
		contents := make([]uint64, g.Rows())
		for i := range f.spec.Features {
			if err := g.addContent(i, f.spec.Features[i].Name, contents); err != nil {
				return err
			}
		}
		hashes := make([]uint64, g.Rows())
		if f.spec.Label != "" {
			dataset.AddContent(hashes, f.spec.Label, &g.label)
		}
		f.count(g, f.Whole, func(r int) [3]uint64 { return [3]uint64{contents[r], 0, hashes[r]} })
		for i := range f.spec.Features { // again, as the hashes of all columns may not fit into memory
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			clear(hashes)
			if err := g.addContent(i, f.spec.Features[i].Name, hashes); err != nil {
				return err
			}
			f.count(g, f.Rest, func(r int) [3]uint64 {
				return [3]uint64{dataset.HashRow(contents[r]-hashes[r], i), uint64(i)<<1 | 1, contents[r]}
			})
		}
		g.count(ctx)
		return nil
	})
}

// count adds an entry for each row that belongs to a part and whose first word has this many leading zeros.
func (f *copies) count(g *rowGroup, zeros uint8, words func(r int) [3]uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r, part := range g.parts {
		if part == dataset.None {
			continue
		}
		if w := words(r); bits.LeadingZeros64(w[0]) >= int(zeros) {
			f.table.Add(w[:])[part] += g.countOf(r)
		}
	}
}

// addContent adds the hash of the column with index i of the requested columns to the hashes of the rows.
func (g *rowGroup) addContent(i int, name string, hashes []uint64) error {
	var v dataset.Vector
	if err := g.ReadColumn(i, &v); err != nil {
		return err
	}
	dataset.AddContent(hashes, name, &v)
	return nil
}

func (f *copies) end(ctx context.Context, emit func(int64, []byte)) error {
	return f.sendCounts(ctx, predictedKey, f.table.Append(nil), emit)
}

// ReadCopies returns the counts of Copies.
func ReadCopies(ctx context.Context, c *CopiesConfig) (*dataset.Copies, error) {
	found := &dataset.Copies{Labels: make(map[uint64]int64)}
	err := readCounts(ctx, c.Out, []int64{predictedKey}, func(_ int, b []byte) error {
		if b == nil {
			return errGone(c.Out, predictedKey)
		}
		t := counting.New(shapeOfCopies())
		if err := t.Merge(b, func([]uint64) error { return nil }); err != nil {
			return err
		}
		contents := make(map[uint64]*dataset.Content)
		for e := range t.Unordered() {
			if e.Words[1] != 0 {
				column := int(e.Words[1] >> 1)
				for len(found.Rests) <= column {
					found.Rests = append(found.Rests, nil)
				}
				found.Rests[column] = append(found.Rests[column], e.Words[0])
				continue
			}
			c := contents[e.Words[0]]
			if c == nil {
				c = new(dataset.Content)
				contents[e.Words[0]] = c
			}
			all := int64(0)
			for part, rows := range e.Counters {
				c.Parts[part] += rows
				all += rows
			}
			c.Agreeing.Add(uint64(all), uint64(max(0, all-1)))
			found.Labels[e.Words[2]] += all
		}
		for _, c := range contents { // in any order: sums of integers
			found.Add(c)
		}
		found.Neighbours = math.Ldexp(float64(found.Rests.Neighbours()), int(c.Rest)-int(c.Whole))
		return nil
	})
	return found, err
}

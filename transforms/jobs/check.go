package jobs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
)

// CheckConfig configures Check.
type CheckConfig struct {
	Config // its Workers share the columns of a row group; its Out is the URL of the result

	Bounds []Bounds
	Most   int64 // greatest number of refused rows to list
}

// Checked is the result of Check.
type Checked struct {
	Rows    int64
	Refused int64          // rows
	Columns []ColumnCounts // in the order of Bounds
	// Rejects lists the first refused rows, ordered by file, row group, row and column: all of them
	// if there are at most CheckConfig.Most. A row may violate the bounds of several columns.
	Rejects []Reject
}

// Reject is a value for which a row was refused.
type Reject struct {
	File     string
	RowGroup int
	Row      int // row in the row group, starting at 0
	Column   int // index in Bounds
	Value    string
	Reason   Reason
}

// compare orders rejects by their place.
func (r *Reject) compare(o *Reject) int {
	return cmp.Or(cmp.Compare(r.File, o.File), cmp.Compare(r.RowGroup, o.RowGroup), cmp.Compare(r.Row, o.Row),
		cmp.Compare(r.Column, o.Column))
}

// sameRow reports whether two rejects belong to the same row.
func (r *Reject) sameRow(o *Reject) bool {
	return r.File == o.File && r.RowGroup == o.RowGroup && r.Row == o.Row
}

// checkedGroup is the result for one row group.
type checkedGroup struct {
	File     string
	RowGroup int
	Checked  Checked
}

// encodeGob encodes a result, which may list as many rejects as there are rows: JSON takes ten times as long.
func encodeGob(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func decodeGob(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }

// Check reads the row groups of tasks, a PCollection<[]byte> of Task, and checks their rows against
// the bounds of their columns, as given in a data contract. ReadChecked reads the result.
func Check(s beam.Scope, tasks beam.PCollection, c CheckConfig) {
	addJob(s.Scope("transforms.Check"), tasks, &checkFn{taskFn[*checks]{Job: &checks{CheckConfig: c}}},
		&mergeChecksFn{mergeFn[*checkMerger]{Job: &checkMerger{c}}})
}

// ReadChecked reads the result of Check.
func ReadChecked(ctx context.Context, c *CheckConfig) (*Checked, error) {
	b, err := read(ctx, c.Out)
	if err != nil {
		return nil, err
	}
	checked := new(Checked)
	return checked, decodeGob(b, checked)
}

type (
	checkFn       struct{ taskFn[*checks] }
	mergeChecksFn struct{ mergeFn[*checkMerger] }
)

// checks checks row groups.
type checks struct {
	CheckConfig

	spec     RowSpec
	checkers []*checker
}

// do checks the rows of a row group, with its columns in parallel.
func (f *checks) do(ctx context.Context, _ *pool, t Task, emit func(int64, []byte)) error {
	for i := len(f.checkers); i < len(f.Bounds); i++ { // once
		f.spec.Features = append(f.spec.Features, dataset.FeatureColumn{Name: f.Bounds[i].Column})
		f.checkers = append(f.checkers, newChecker(&f.Bounds[i]))
	}
	g, err := openRowGroup(ctx, &f.spec, t)
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // reading has returned its errors already
	p := &checkedGroup{File: t.File, RowGroup: t.RowGroup, Checked: Checked{Rows: int64(g.Rows()), Columns: make([]ColumnCounts, len(f.checkers))}}
	rejects := make([][]Reject, len(f.checkers))
	refused := make([][]bool, len(f.checkers))
	faults := make([]error, len(f.checkers))
	parallel.Each(len(f.checkers), max(1, f.Workers), func(i int) {
		var v dataset.Vector
		if faults[i] = g.ReadColumn(i, &v); faults[i] != nil {
			return
		}
		p.Checked.Columns[i] = f.checkers[i].column(&v, func(row int, why Reason) {
			if refused[i] == nil {
				refused[i] = make([]bool, g.Rows())
			}
			refused[i][row] = true
			if int64(len(rejects[i])) < f.Most {
				rejects[i] = append(rejects[i], Reject{t.File, t.RowGroup, row, i, f.spell(i, &v, row), why})
			}
		})
	})
	if err := cmp.Or(faults...); err != nil {
		return err
	}
	p.Checked.Refused = either(refused)
	p.Checked.Rejects = firstRows(slices.Concat(rejects...), f.Most)
	g.count(ctx)
	b, err := encodeGob(p)
	emit(0, b)
	return err
}

func (f *checks) end(context.Context, func(int64, []byte)) error { return nil }

// rejectBytes is how many bytes of a value a reject may have.
const rejectBytes = 1 << 10

// spell returns a value as text for a reject.
func (f *checks) spell(column int, v *dataset.Vector, row int) string {
	text := v.Spell(row)
	if v.Type == dataset.Number && !v.Missing(row) {
		i := row
		if v.Index != nil {
			i = int(v.Index[row])
		}
		text = f.checkers[column].Unit.Spell(v.Numbers[i])
	}
	return strings.ToValidUTF8(text[:min(len(text), rejectBytes)], "")
}

// either returns how many rows are refused by some column.
func either(refused [][]bool) (n int64) {
	var all []bool
	for _, column := range refused {
		if all == nil {
			all = column
			continue
		}
		for r, is := range column {
			all[r] = all[r] || is
		}
	}
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}

// firstRows sorts rejects, and returns the rejects of the first most rows.
func firstRows(rejects []Reject, most int64) []Reject {
	slices.SortFunc(rejects, func(a, b Reject) int { return a.compare(&b) })
	n := int64(0)
	for i := range rejects {
		if i == 0 || !rejects[i].sameRow(&rejects[i-1]) {
			n++
		}
		if n > most {
			return rejects[:i]
		}
	}
	return rejects
}

// checkMerger merges the results for all row groups.
type checkMerger struct{ CheckConfig }

// merge adds the results in order of their places, so that sums have the same bits in each run.
func (f *checkMerger) merge(ctx context.Context, _ int64, list [][]byte) error {
	groups := make([]checkedGroup, len(list))
	for i, b := range list {
		if err := decodeGob(b, &groups[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(groups, func(a, b checkedGroup) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.RowGroup, b.RowGroup))
	})
	sum := Checked{Columns: make([]ColumnCounts, len(f.Bounds))}
	for i := range groups {
		g := &groups[i].Checked
		sum.Rows += g.Rows
		sum.Refused += g.Refused
		for k := range g.Columns {
			sum.Columns[k].add(&g.Columns[k])
		}
		sum.Rejects = append(sum.Rejects, g.Rejects...)
	}
	sum.Rejects = firstRows(sum.Rejects, f.Most)
	b, err := encodeGob(&sum)
	if err != nil {
		return err
	}
	return write(ctx, f.Out, b)
}

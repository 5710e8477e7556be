package checking

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Config configures Check.
type Config struct {
	jobs.Config // its Workers share the columns of a row group; its Out is the URL of the result

	Bounds []byte // encoded []Bounds
	Most   int64  // greatest number of refused rows to list
}

// Checked is the result of Check.
type Checked struct {
	Rows    int64    `json:"rows"`
	Refused int64    `json:"refused"` // rows
	Columns []Counts `json:"columns"` // in the order of Bounds
	// Rejects lists the first refused rows, ordered by file, row group, row and column: all of them
	// if there are at most Config.Most. A row may violate the bounds of several columns.
	Rejects []Reject `json:"rejects"`
}

// Reject is a value for which a row was refused.
type Reject struct {
	File     string `json:"file"`
	RowGroup int    `json:"row_group"`
	Row      int    `json:"row"`    // row in the row group, starting at 0
	Column   int    `json:"column"` // index in Bounds
	Value    string `json:"value"`
	Reason   Reason `json:"reason"`
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

// part is the result for one row group.
type part struct {
	File     string  `json:"file"`
	RowGroup int     `json:"row_group"`
	Checked  Checked `json:"checked"`
}

// Check reads the row groups of tasks, a PCollection<[]byte> of jobs.Task, and checks their rows
// against the bounds of their columns. ReadChecked reads the result.
func Check(s beam.Scope, tasks beam.PCollection, c Config) {
	s = s.Scope("transforms.Check")
	merged := beam.GroupByKey(s, beam.ParDo(s, &checkFn{Config: c}, tasks))
	beam.ParDo0(s, &mergeFn{Config: c}, merged)
}

// ReadChecked reads the result of Check.
func ReadChecked(ctx context.Context, c *Config) (*Checked, error) {
	store, err := jobs.OpenStorage(ctx)
	if err != nil {
		return nil, err
	}
	b, err := store.Read(ctx, c.Out)
	if err != nil {
		return nil, err
	}
	checked := new(Checked)
	return checked, json.Unmarshal(b, checked)
}

// checkFn checks row groups.
type checkFn struct {
	Config

	checkers []*checker
	names    []string
}

func (f *checkFn) StartBundle(context.Context, func(int64, []byte)) error {
	var bounds []Bounds
	if err := json.Unmarshal(f.Bounds, &bounds); err != nil {
		return err
	}
	f.checkers, f.names = nil, nil
	for i := range bounds {
		f.checkers, f.names = append(f.checkers, newChecker(&bounds[i])), append(f.names, bounds[i].Column)
	}
	return nil
}

func (f *checkFn) ProcessElement(ctx context.Context, task []byte, emit func(int64, []byte)) error {
	return f.Within(ctx, func(ctx context.Context) error {
		p, err := f.check(ctx, task)
		if err == nil {
			emit(0, jobs.MustJSON(p))
		}
		return err
	})
}

// check checks the rows of a row group, with its columns in parallel.
func (f *checkFn) check(ctx context.Context, task []byte) (p *part, err error) {
	var t jobs.Task
	if err := json.Unmarshal(task, &t); err != nil {
		return nil, err
	}
	store, err := jobs.OpenStorage(ctx)
	if err != nil {
		return nil, err
	}
	g, err := store.RowGroup(ctx, t, f.names)
	if err != nil {
		return nil, err
	}
	defer func() {
		if fault := g.Close(); err == nil {
			err = fault
		}
	}()
	p = &part{File: t.File, RowGroup: t.RowGroup, Checked: Checked{Rows: int64(g.Rows()), Columns: make([]Counts, len(f.checkers))}}
	rejects, refused := make([][]Reject, len(f.checkers)), make([][]bool, len(f.checkers))
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
	if err := parallel.First(faults); err != nil {
		return nil, err
	}
	p.Checked.Refused, p.Checked.Rejects = either(refused), firstRows(slices.Concat(rejects...), f.Most)
	jobs.CountRowGroup(ctx, p.Checked.Rows)
	return p, nil
}

// longest is how many bytes of a value a reject may have.
const longest = 1 << 10

// spell returns a value as text for a reject.
func (f *checkFn) spell(column int, v *dataset.Vector, row int) string {
	text := v.Spell(row)
	if v.Type == dataset.Number && !v.Missing(row) {
		i := row
		if v.Index != nil {
			i = int(v.Index[row])
		}
		text = f.checkers[column].Unit.Spell(v.Numbers[i])
	}
	return strings.ToValidUTF8(text[:min(len(text), longest)], "")
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

// mergeFn merges the results for all row groups.
type mergeFn struct{ Config }

func (f *mergeFn) ProcessElement(ctx context.Context, _ int64, values func(*[]byte) bool) error {
	return f.Within(ctx, func(ctx context.Context) error {
		var parts []part
		for _, b := range jobs.Collect(values) {
			var p part
			if err := json.Unmarshal(b, &p); err != nil {
				return err
			}
			parts = append(parts, p)
		}
		store, err := jobs.OpenStorage(ctx)
		if err != nil {
			return err
		}
		return store.Write(ctx, f.Out, jobs.MustJSON(f.merge(parts)))
	})
}

// merge adds the parts in order of their places, so that sums have the same bits in each run.
func (f *mergeFn) merge(parts []part) *Checked {
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.RowGroup, b.RowGroup))
	})
	var sum Checked
	for i := range parts {
		p := &parts[i].Checked
		if sum.Columns == nil {
			sum.Columns = make([]Counts, len(p.Columns))
		}
		sum.Rows += p.Rows
		sum.Refused += p.Refused
		for k := range p.Columns {
			sum.Columns[k].add(&p.Columns[k])
		}
		sum.Rejects = append(sum.Rejects, p.Rejects...)
	}
	sum.Rejects = firstRows(sum.Rejects, f.Most)
	return &sum
}

func init() {
	beam.RegisterDoFn(reflect.TypeFor[checkFn]())
	beam.RegisterDoFn(reflect.TypeFor[mergeFn]())
}

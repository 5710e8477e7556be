package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/weighing"
)

// Task names row groups of a file, or a scratch file with an object block.
type Task struct {
	File       string `json:"file"`
	Size       int64  `json:"size,omitempty"`       // size of the file when it was listed
	Generation string `json:"generation,omitempty"` // generation of the file when it was listed
	RowGroup   int    `json:"row_group,omitempty"`
	RowGroups  int    `json:"row_groups,omitempty"` // number of row groups, starting at RowGroup; 0: one
	Output     string `json:"output,omitempty"`     // URL of the file to write; optional
	// Repeated means that a runner may run the task several times, so an existing output with the
	// same content is not an error.
	Repeated bool         `json:"repeated,omitempty"`
	Refused  []int32      `json:"refused,omitempty"` // ascending positions in the row group of rows to leave out
	Path     []PathColumn `json:"path,omitempty"`    // columns whose values are part of the file's path
	Digits   []string     `json:"digits,omitempty"`  // columns of integers that are read as texts
	Texts    []TextColumn `json:"texts,omitempty"`   // columns of texts that are read as numbers
	Part     dataset.Part `json:"part,omitempty"`    // part of a block
}

// PathColumn is a column with a single value for all rows of a file.
type PathColumn struct {
	Name   string            `json:"name"`
	Type   dataset.ValueType `json:"type"`
	Number float64           `json:"number,omitempty"`
	Text   string            `json:"text,omitempty"`
	Null   bool              `json:"null,omitempty"`
}

// Encode returns the task as an element of a PCollection.
func (t Task) Encode() []byte { return elements.MustJSON(t) }

// decodeTask decodes the result of Encode.
func decodeTask(b []byte) (t Task, err error) {
	err = json.Unmarshal(b, &t)
	return t, err
}

// RowSpec describes the use of each column of a row.
type RowSpec struct {
	Features []dataset.FeatureColumn `json:"features"`
	Label    string                  `json:"label"`
	Weight   string                  `json:"weight,omitempty"` // column of row weights
	Count    string                  `json:"count,omitempty"`  // column of counts: a line with the count n is n equal rows
	dataset.Parting
	// KeyTimes is the folder of the result of KeyTimes, if there are a Key and a Time.
	KeyTimes    string                   `json:"key_times,omitempty"`
	firstOfKeys map[uint64]dataset.Place // by hash of the key: place of its first row

	DropNullLabels bool `json:"drop_null_labels,omitempty"`
	// LabelCuts makes classes of a label of numbers, see dataset.RangeNames.
	LabelCuts []float64 `json:"label_cuts,omitempty"`

	weighing.Rule // see SummariseConfig.Weigh

	Soft SoftLabels `json:"soft_labels,omitzero"`

	// Groups is, by part, the number of objects up to which they keep the buckets of their rows'
	// keys or times, see dataset.Table.KeepGroups. Without a Key and a Time they keep the classes of their rows'
	// weights instead, see dataset.WeightClass. 0: objects keep neither.
	Groups [dataset.Parts]int64 `json:"groups,omitzero"`
}

// CountGroups makes the counts of test rows keep the groups of the rows if they have keys, or the classes of their
// weights if these are unequal.
func (s *RowSpec) CountGroups() {
	if s.Dependent() || s.Units != nil && s.Units[dataset.Test].Effect > 1 {
		s.Groups[dataset.Test] = math.MaxInt64
	}
}

// Keyed reports whether rows with the same key, or of one block of time, form a group in the counts of rows.
func (s *RowSpec) Keyed() bool { return s.Dependent() && s.grouped() }

// grouped reports whether objects of some part keep the buckets of their rows.
func (s *RowSpec) grouped() bool { return s.Groups != [dataset.Parts]int64{} }

// Weighted reports whether rows of some part have weights other than 1.
func (s *RowSpec) Weighted() bool { return s.Weight != "" || s.Rule.Weighted() }

// GrowthScale returns how many units make the average weight of a training row where trees grow.
func (s *RowSpec) GrowthScale() float64 {
	return s.ScaleOf(dataset.Train) * float64(max(1, s.Soft.Scale))
}

// moreBytes estimates the bytes of an object in addition to its codes and one class weight.
func (s *RowSpec) moreBytes() int {
	const ofGroups = 56 // a share and its list
	if s.grouped() {
		return s.Soft.bytes() + ofGroups
	}
	return s.Soft.bytes()
}

// OfLabels returns the specification of the same rows if only the labels count.
func (s *RowSpec) OfLabels() *RowSpec {
	rows := *s
	if rows.Soft.Scale = 0; rows.Label != "" {
		rows.Soft = SoftLabels{}
	}
	return &rows
}

// readRows decodes the result of Encode, and reads the times of the keys.
func readRows(ctx context.Context, b []byte) (*RowSpec, error) {
	s := new(RowSpec)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, err
	}
	return s, s.readKeys(ctx)
}

// readKeys reads the times of the keys, if the parts of rows depend on them.
func (s *RowSpec) readKeys(ctx context.Context) (err error) {
	if s.KeyTimes != "" {
		s.firstOfKeys, err = readKeyTimes(ctx, s.KeyTimes)
	}
	return err
}

// Encode returns the specification as the value of a DoFn's field.
func (s *RowSpec) Encode() []byte { return elements.MustJSON(s) }

// Columns returns the columns to read: the features, then count, label, weight, split column, time, key, contents and the
// probabilities of the classes, except those that are not set.
func (s *RowSpec) Columns() []string {
	names := make([]string, 0, len(s.Features)+4)
	for _, f := range s.Features {
		names = append(names, f.Name)
	}
	for _, name := range []string{s.Count, s.Label, s.Weight, s.SplitColumn, s.Time, s.Key} {
		if name != "" {
			names = append(names, name)
		}
	}
	names = append(names, s.Content...)
	for _, c := range s.Soft.Columns {
		names = append(names, c.Name)
	}
	return names
}

// rowGroup holds rows of an opened row group. After prepare, the label, the weight and the part of
// each row are known. Features are decoded on demand. With a column of counts, each row represents a number of
// equal rows, and the rows of a line that belong to different parts follow one another.
type rowGroup struct {
	dataset.RowGroup

	spec       *RowSpec
	task       Task
	first      int     // position of the first of the rows in the row group
	rows       int     // lines, before they are divided among parts
	lines      []int32 // by row: the position of its line; nil: each line is a row
	counts     []int64 // by row: the number of equal rows; nil: 1
	label      dataset.Vector
	own        dataset.Vector // weights, as in the column
	weighing   bool           // the units of weights are not known yet: see SummariseConfig.Weigh
	weights    []int64        // by row, in units; nil if each row has weight 1
	parts      []dataset.Part // by row
	buckets    []uint8        // by row: bucket of its key or time; nil if not needed
	dropped    int64          // rows without a label
	ignored    int64          // rows with a weight of 0
	otherClass int64          // rows whose label is none of the tree's classes
	known      int64          // rows whose key has rows in an earlier part
	shares     []int32        // by row and class: see dataset.Rows; nil if only the label counts
	soft       bool           // whether some training row has probabilities that differ from its label
}

// newRowGroup returns the rows of a task in an opened row group.
func newRowGroup(opened dataset.RowGroup, spec *RowSpec, task Task) *rowGroup {
	return &rowGroup{RowGroup: opened, spec: spec, task: task, rows: opened.Rows()}
}

// Rows returns the number of rows.
func (g *rowGroup) Rows() int {
	if g.lines != nil {
		return len(g.lines)
	}
	return g.rows
}

// ReadColumn decodes the rows of the i-th requested column.
func (g *rowGroup) ReadColumn(i int, dst *dataset.Vector) error {
	if g.lines == nil {
		return g.ReadRows(i, g.first, g.first+g.rows, dst)
	}
	var v dataset.Vector
	err := g.ReadRows(i, g.first, g.first+g.rows, &v)
	if err == nil {
		pick(dst, &v, g.lines)
	}
	return err
}

// pieceRows is the least number of rows of a piece of a large row group. It determines the memory
// of a worker, and how many pages are decoded by two pieces.
const pieceRows = 1 << 17

// RowPieces returns how many pieces workers share of a row group with this many rows.
func RowPieces(rows int64) int64 { return max(1, rows/pieceRows) }

// pieces divides the rows into pieces that are prepared independently.
func (g *rowGroup) pieces() []*rowGroup {
	n := int(RowPieces(int64(g.rows)))
	if n == 1 {
		return []*rowGroup{g}
	}
	if page := g.PageRows(); page > 0 { // at most three pieces decode a page
		n = min(n, max(1, 2*g.rows/page))
	}
	list := make([]*rowGroup, n)
	for i := range list {
		list[i] = newRowGroup(g.RowGroup, g.spec, g.task)
		list[i].first = i * g.rows / n
		list[i].rows = (i+1)*g.rows/n - list[i].first
	}
	return list
}

// eachPiece opens the row group of a task, and runs a function on each of its pieces, by the
// workers of a pool.
func eachPiece(
	ctx context.Context, p *pool, spec *RowSpec, t Task,
	do func(ctx context.Context, piece *rowGroup, worker int) error,
) error {
	g, err := openRowGroup(ctx, spec, t)
	if err != nil {
		return err
	}
	pieces := g.pieces()
	all := newShared(g, len(pieces))
	for _, piece := range pieces { // all of them even after an error, because each closes the row group
		err = p.doWith(ctx, all, func(worker int) error { return do(ctx, piece, worker) })
	}
	return err
}

// shared is a row group that several tasks read. Each of them closes it.
type shared struct {
	*rowGroup

	left atomic.Int32 // tasks that have not closed the row group
}

// newShared returns a row group that is read by tasks tasks.
func newShared(g *rowGroup, tasks int) *shared {
	s := &shared{rowGroup: g}
	s.left.Store(int32(tasks))
	return s
}

// Close closes the row group when the last task calls it.
func (s *shared) Close() error {
	if s.left.Add(-1) > 0 {
		return nil
	}
	return s.rowGroup.Close()
}

// count adds the rows to the progress. It counts the task once, however many pieces it has.
func (g *rowGroup) count(ctx context.Context) {
	if g.first == 0 {
		progressOf(ctx).Tasks.Add(1)
	}
	progressOf(ctx).Rows.Add(int64(g.rows))
}

// openRowGroup opens the row group of a task. It does not decode anything: see prepare.
func openRowGroup(ctx context.Context, spec *RowSpec, task Task) (*rowGroup, error) {
	s, err := OpenStorage(ctx)
	if err != nil {
		return nil, err
	}
	opened, err := s.RowGroup(ctx, task, spec.Columns())
	if err != nil {
		return nil, err
	}
	return newRowGroup(opened, spec, task), nil
}

// prepare decodes labels and weights, and determines the part of each row.
func (g *rowGroup) prepare() error {
	columns := &columnReader{g: g, next: len(g.spec.Features)}
	if g.spec.Count != "" { // first, as lines without rows need no other values
		if err := g.readCounts(columns); err != nil {
			return err
		}
	}
	if g.spec.Label != "" {
		if err := columns.read(&g.label); err != nil {
			return err
		}
		if err := g.cutLabel(); err != nil {
			return err
		}
	}
	g.parts = make([]dataset.Part, g.Rows())
	if g.spec.Weight != "" {
		if err := columns.readNumbers(g.spec.Weight, &g.own); err != nil {
			// a whole number that floats do not keep exact
			return dataset.ReplaceHint(err, "divide the weights by a constant, or write them as DOUBLE")
		}
		if err := g.checkWeights(); err != nil {
			return err
		}
	}
	if err := g.assignParts(columns); err != nil {
		return err
	}
	if err := g.leaveOut(); err != nil {
		return err
	}
	if g.counts != nil && g.spec.ByPlace() {
		g.divide()
	}
	if err := g.countWeights(); err != nil {
		return err
	}
	if len(g.spec.Soft.Columns) > 0 {
		return g.readProbabilities()
	}
	return nil
}

// leaveOut leaves out rows that are refused, or that have no label or no weight.
func (g *rowGroup) leaveOut() error {
	refused := g.refused()
	for r := range g.parts {
		switch {
		case len(refused) > 0 && int(refused[0]) == g.first+r:
			refused = refused[1:]
			g.parts[r] = dataset.None
		case g.countOf(r) == 0:
			g.parts[r] = dataset.None
		case g.spec.Label != "" && g.label.Missing(r):
			if !g.spec.DropNullLabels {
				return g.placed(dataset.NullLabel(g.spec.Label, g.rowName(r), "--drop_null_labels leaves such rows out"))
			}
			g.dropped += g.countOf(r)
			g.parts[r] = dataset.None
		case g.spec.Weight != "" && g.ownWeight(r) == 0:
			g.ignored += g.countOf(r)
			g.parts[r] = dataset.None
		}
	}
	return nil
}

// rowName names row r of the row group in messages.
func (g *rowGroup) rowName(r int) string {
	if g.lines != nil {
		r = int(g.lines[r])
	}
	return fmt.Sprintf("row %d", g.first+r)
}

// refused returns the refused rows, starting at the first row of g.
func (g *rowGroup) refused() []int32 {
	from, _ := slices.BinarySearch(g.task.Refused, int32(g.first))
	return g.task.Refused[from:]
}

// rowsOf appends the positions of a part's rows to dst.
func (g *rowGroup) rowsOf(part dataset.Part, dst []int32) []int32 {
	dst = slices.Grow(dst, g.Rows())
	for r, p := range g.parts {
		if p == part {
			dst = append(dst, int32(r))
		}
	}
	return dst
}

// feature decodes the column of feature i, as numbers or texts according to its kind.
func (g *rowGroup) feature(i int, dst *dataset.Vector) error {
	if err := g.ReadColumn(i, dst); err != nil {
		return err
	}
	f := &g.spec.Features[i]
	empty := f.Type == dataset.Text && dst.Type == dataset.Number || // a column without any value, of another type
		f.Type == dataset.Number && f.Kind == dataset.Categorical && f.Unit == dataset.Plain && dst.Type == dataset.Text
	if empty {
		return g.withoutValues(f, dst)
	}
	if dst.Type == dataset.Text && (f.Kind == dataset.Numeric || f.Unit != dataset.Plain) {
		return g.asNumbers(f, dst)
	}
	return nil
}

// withoutValues gives a column in which all rows of the file are null the type that the column has
// in other files.
func (g *rowGroup) withoutValues(f *dataset.FeatureColumn, v *dataset.Vector) error {
	rows := v.Rows()
	for r := range rows {
		if !v.Missing(r) {
			return g.errorAt(f.Name, v.Spell(r), fmt.Sprintf("a value of another type than in other files, and the footer says "+
				"that the column has none (%s)", g.rowName(r)), "write the file again, or leave it out")
		}
	}
	v.Type = f.Type
	v.Numbers = nil
	v.Texts = nil
	v.Index = slices.Repeat([]int32{-1}, rows)
	return nil
}

// asNumbers converts a column of texts to numbers or points in time. It is for columns of
// --numeric, and for columns that are numeric in a tree.
func (g *rowGroup) asNumbers(f *dataset.FeatureColumn, v *dataset.Vector) error {
	numbers := make([]float64, len(v.Texts))
	for i, s := range v.Texts {
		x, ok := f.Unit.ParseValue(s)
		switch {
		case f.Unit == dataset.Plain && dataset.LosesDigits(s, x):
			e := dataset.Plain.Inexact(s)
			return g.errorAt(f.Name, s, e.Problem, e.Hint)
		case !ok && f.Unit != dataset.Plain:
			return g.errorAt(f.Name, s, fmt.Sprintf("not a %s, and the feature is one", f.Unit),
				fmt.Sprintf("write it as %s, or null", f.Unit.Example()))
		case !ok:
			return g.errorAt(f.Name, s, "not a number, and the feature is numeric",
				"write a number or null there; in training leave the column out of --numeric, or --ignore it")
		}
		numbers[i] = x
	}
	v.Type = dataset.Number
	v.Numbers = numbers
	return nil
}

// errorAt returns a data error with the location of the row group.
func (g *rowGroup) errorAt(column, value, problem, hint string) error {
	return g.placed(&dataset.DataError{Column: column, Value: value, Problem: problem, Hint: hint})
}

// placed adds the location of the row group to an error.
func (g *rowGroup) placed(e *dataset.DataError) error {
	group := g.task.RowGroup
	e.File = g.task.File
	e.RowGroup = &group
	return e
}

// ReadRows returns the values of all rows of a task's row group, one vector for each feature, as
// Predict reads them, and the number of rows.
func ReadRows(ctx context.Context, spec *RowSpec, task Task) (values []dataset.Vector, rows int, err error) {
	g, err := openRowGroup(ctx, spec, task)
	if err != nil {
		return nil, 0, err
	}
	defer g.Close() //nolint:errcheck // reading has returned its errors already
	values, err = g.features()
	return values, g.rows, err
}

// features decodes the columns of all features.
func (g *rowGroup) features() ([]dataset.Vector, error) {
	values := make([]dataset.Vector, len(g.spec.Features))
	for i := range values {
		if err := g.feature(i, &values[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// ReadRow returns the values of a single row of a task's row group, one vector of one row for each
// feature, as Predict reads them.
func ReadRow(ctx context.Context, spec *RowSpec, task Task, row int) ([]dataset.Vector, error) {
	g, err := openRowGroup(ctx, spec, task)
	if err != nil {
		return nil, err
	}
	defer g.Close() //nolint:errcheck // reading has returned its errors already
	g.first = row
	g.rows = 1
	return g.features()
}

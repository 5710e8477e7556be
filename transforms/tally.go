package transforms

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// A row is tallied by a key of its kind, its label and its features, each a cell:
// a byte for its type and unit, then 8 bytes of a number, or the length and the bytes of a
// text. With bins that are given it is the kind, the number of its class as
// uvarint and its codes.

// The kinds of tallied rows. Earlier ones are of the window before, for its bins.
const (
	earlierRows byte = iota
	ownRows
)

// cellMissing opens a cell without a value; others open with their value type.
const cellMissing = 0

func appendCell(b []byte, c *cell) []byte {
	b = append(b, byte(c.typ)|byte(c.unit)<<unitShift)
	switch c.typ {
	case dataset.Number:
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(c.number))
	case dataset.Text:
		b = append(binary.AppendUvarint(b, uint64(len(c.text))), c.text...)
	}
	return b
}

var errRow = errors.New("transforms: not a tallied row")

// unitShift is where a cell's first byte has its unit, above its type.
const unitShift = 4

// cellType is what the cells of a column are; the zero cellType: all are missing.
type cellType struct {
	typ  dataset.ValueType
	unit dataset.Unit
}

// tallied is a cell of a key.
type tallied struct {
	cellType

	number float64
	text   []byte // part of the key
}

// cutCell takes the first cell off a key.
func cutCell(b []byte) (c tallied, rest []byte, err error) {
	if len(b) == 0 {
		return c, nil, errRow
	}
	c.typ, c.unit, b = dataset.ValueType(b[0]&(1<<unitShift-1)), dataset.Unit(b[0]>>unitShift), b[1:]
	switch c.typ {
	case cellMissing:
		return c, b, nil
	case dataset.Number:
		if len(b) < 8 {
			return c, nil, errRow
		}
		c.number = math.Float64frombits(binary.BigEndian.Uint64(b))
		return c, b[8:], nil
	case dataset.Text:
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) {
			return c, nil, errRow
		}
		c.text = b[k : k+int(n)]
		return c, b[k+int(n):], nil
	default:
		return c, nil, errRow
	}
}

// tallyBytes is the memory of the tallies of a bundle at which they are sent on
// before it ends.
const tallyBytes = 64 << 20

// tallyFn counts equal rows of a bundle, apart for each shard and each stretch of
// time. The rows must come in the global window, as a bundle can end in no other.
type tallyFn struct {
	Spec   []byte        // trainSpec
	Shards int           // that rows are dealt to by their hash
	Given  []byte        // plan by which rows are coded at once; empty: none
	Of     time.Duration // length of the stretches that windows are made of; 0: all time
	Alone  bool          // rows are not counted together, as their windows are their own

	Earlier time.Duration // rows are sent once more as earlier ones, so much later; 0: they are not

	spec   *trainSpec
	reader *rowReader
	given  *rowCoder // by which rows are coded at once; nil: they are not
	open   map[tallyKey]*timedTally
	held   int
	cells  []cell
	key    []byte
}

type tallyKey struct{ shard, stretch int64 }

type timedTally struct {
	dataset.Tally

	at beam.EventTime // of the latest row
}

// Setup reads the specification.
func (f *tallyFn) Setup() error {
	var err error
	if f.spec, err = openSpec(f.Spec); err != nil {
		return err
	}
	names := []string{f.spec.Config.Label}
	if f.spec.weighted() {
		names = append(names, f.spec.Config.Weight)
	}
	for _, c := range f.spec.Columns {
		names = append(names, c.Name)
	}
	if f.reader, err = f.spec.Schema.reader(names); err != nil || len(f.Given) == 0 {
		return err
	}
	p, err := openPlan(f.Given)
	if err != nil {
		return err
	}
	f.given = newRowCoder(p, f.spec.Config.Label)
	return nil
}

func (f *tallyFn) StartBundle(context.Context, func(beam.EventTime, int64, []byte)) {
	f.open, f.held = make(map[tallyKey]*timedTally), 0
}

func (f *tallyFn) ProcessElement(
	_ context.Context, at beam.EventTime, row beam.T, emit func(beam.EventTime, int64, []byte),
) error {
	weight, whole, label, err := f.encode(row)
	if err != nil {
		return jobs.Carry(err)
	}
	var to tallyKey
	if f.Shards > 1 && label > 0 {
		to.shard = int64(dataset.HashKey(f.key[label:]) >> 32 % uint64(f.Shards))
	}
	if f.Of > 0 {
		to.stretch = floorDiv(int64(at), f.Of.Milliseconds())
	}
	t := f.open[to]
	if t == nil {
		t = &timedTally{at: at}
		f.open[to] = t
	}
	t.at = max(t.at, at)
	before := t.Bytes()
	switch {
	case label == 0:
		t.Dropped++
	case weight > 0:
		t.Add(f.key, weight, whole)
	}
	f.held += t.Bytes() - before
	if f.held > tallyBytes || f.Alone {
		f.flush(emit)
	}
	return nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (f *tallyFn) FinishBundle(_ context.Context, emit func(beam.EventTime, int64, []byte)) {
	f.flush(emit)
}

func (f *tallyFn) flush(emit func(beam.EventTime, int64, []byte)) {
	for at, t := range f.open { // in any order: tallies merge to the same bytes in each
		if t.Empty() {
			continue
		}
		emit(t.at, at.shard, t.AppendBinary(nil))
		if f.Earlier > 0 {
			t.Dropped = 0 // they count once
			emit(t.at+beam.EventTime(f.Earlier.Milliseconds()), at.shard, asEarlier(t.AppendBinary(nil)))
		}
	}
	clear(f.open)
	f.held = 0
}

// asEarlier makes the rows of a tally earlier ones, in place.
func asEarlier(b []byte) []byte {
	r, err := dataset.ReadTally(b)
	for err == nil && r.Next() {
		r.Key[0] = earlierRows
	}
	return b
}

// encode makes the key of a row and returns its weight in units of
// 1/dataset.TallyScale and the bytes before its features, 0 where the row has no
// label and is left out.
func (f *tallyFn) encode(row any) (weight int64, whole bool, label int, err error) {
	if f.cells, err = f.reader.read(row, f.cells[:0]); err != nil {
		return 0, false, 0, err
	}
	weight, whole = dataset.TallyScale, true
	features := f.cells[1:]
	if f.spec.weighted() {
		if weight, whole, err = f.weigh(&f.cells[1]); err != nil {
			return 0, false, 0, err
		}
		features = features[1:]
	}
	c := &f.spec.Config
	if f.cells[0].typ == 0 {
		if !c.DropNullLabels {
			return 0, false, 0, &dataset.DataError{
				Column: c.Label, Problem: "the label of a row is null, expected a class",
				Hint: "DropNullLabels leaves such rows out",
			}
		}
		return 0, false, 0, nil
	}
	f.key = appendCell(append(f.key[:0], ownRows), &f.cells[0])
	label = len(f.key)
	for i := range features {
		if err := f.fit(i, &features[i]); err != nil {
			return 0, false, 0, err
		}
		f.key = appendCell(f.key, &features[i])
	}
	if f.given != nil {
		f.key, err = f.given.code(f.key[:1], &f.cells[0], features)
	}
	return weight, whole, label, err
}

// fit makes the value of a feature one that it can have.
func (f *tallyFn) fit(i int, x *cell) error {
	column := &f.spec.Columns[i]
	if f.given != nil {
		if in := f.given.inputs[i]; in.Name != "" {
			return x.fit(&in)
		}
	}
	if column.Kind == dataset.Numeric {
		if err := x.asNumber(column.Name, column.Unit); err != nil {
			return err
		}
	}
	if x.typ == dataset.Number && column.Type == dataset.Number && x.unit != column.Unit {
		return mixed(column.Name)
	}
	return nil
}

// rowCoder codes rows one by one.
type rowCoder struct {
	plan     *plan
	label    string
	classes  map[string]uint16
	encoders []*dataset.Encoder
	inputs   map[int]tree.Input // by column of the rows

	vector  dataset.Vector
	scratch []uint16
}

func newRowCoder(p *plan, label string) *rowCoder {
	c := &rowCoder{
		plan: p, label: label, classes: jobs.ClassCodes(p.Classes), encoders: jobs.NewEncoders(p.features),
		inputs: make(map[int]tree.Input),
	}
	for i := range p.features {
		f := &p.features[i]
		c.inputs[p.Columns[i]] = tree.Input{Name: f.Name, Kind: f.Kind, Unit: f.Unit}
	}
	return c
}

// code appends the number of a row's class and its codes.
func (c *rowCoder) code(dst []byte, label *cell, features []cell) ([]byte, error) {
	class, err := classIn(c.classes, label.spell(), c.label)
	if err != nil {
		return nil, err
	}
	dst = binary.AppendUvarint(dst, uint64(class))
	at := len(dst)
	dst = append(dst, make([]byte, c.plan.layout.Stride)...)
	for i, encoder := range c.encoders {
		x := &features[c.plan.Columns[i]]
		v := &c.vector
		if x.typ == dataset.Text {
			if c.plan.features[i].Kind == dataset.Numeric {
				return nil, mixed(c.plan.features[i].Name)
			}
			*v = dataset.Vector{
				Type: dataset.Text, Index: append(v.Index[:0], 0), Texts: append(v.Texts[:0], x.text),
				Numbers: v.Numbers,
			}
		} else {
			number := x.number
			if x.typ == 0 {
				number = math.NaN()
			}
			*v = dataset.Vector{Type: dataset.Number, Numbers: append(v.Numbers[:0], number), Texts: v.Texts}
		}
		c.scratch = encoder.Encode(v, dst[at:], c.plan.layout.Offsets[i], c.plan.layout.Stride, c.scratch)
	}
	return dst, nil
}

// objects makes objects of coded rows.
func (p *plan) objects(tally []byte, weighted bool) (*dataset.Table, error) {
	r, err := dataset.ReadTally(tally)
	if err != nil {
		return nil, err
	}
	p.Dropped, p.Scale = r.Dropped, 1
	if r.Scaled {
		p.Scale = dataset.TallyScale
	}
	t := dataset.NewTable(p.layout, weighted)
	for r.Next() {
		class, n := binary.Uvarint(r.Key[min(1, len(r.Key)):])
		if n <= 0 || class >= uint64(len(p.Classes)) || len(r.Key) != 1+n+p.layout.Stride {
			return nil, errRow
		}
		key := r.Key[1+n:]
		t.Add(key, dataset.HashKey(key), uint16(class), r.Weight, r.Rows)
	}
	return t, r.Err()
}

func (f *tallyFn) weigh(x *cell) (weight int64, whole bool, err error) {
	column := f.spec.Config.Weight
	if err := x.asNumber(column, dataset.Plain); err != nil {
		return 0, false, err
	}
	if x.typ == 0 || x.number < 0 || x.number > jobs.MaxWeight {
		return 0, false, &dataset.DataError{
			Column: column, Value: x.spell(),
			Problem: "the weight of a row is null or out of range, expected a number from 0 to 1e9",
		}
	}
	return int64(math.RoundToEven(float64(x.number * dataset.TallyScale))), x.number == math.Trunc(x.number), nil
}

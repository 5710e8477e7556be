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
	"github.com/espalier-ml/espalier/internal/rowtype"
)

// A tally counts equal rows by a key. The key of a row is its kind (a byte), then the
// cell of its label, then the cells of its features. A cell is a byte for type and unit,
// then the 8 bytes of a number, or the length and the bytes of a text. Where the bins
// are given beforehand, the key is the kind, the code of the class as a uvarint and the
// codes of the features. Where groups stay together, the bucket of the row's group follows (a byte).
// Where rows have weights, the cell of the weight comes last: see cutWeight.

// The kinds of tallied rows.
const (
	earlierRows byte = iota          // of the window before: the bins are fitted to them
	ownRows                          // of the window itself, and its other parts: see kindOfPart
	noRows      byte = math.MaxUint8 // of no use
)

// kindOfPart returns the kind of the window's own rows of a part.
func kindOfPart(part dataset.Part) byte { return ownRows + byte(part) }

// cellMissing is the type of a cell without a value. Other cells have a
// dataset.ValueType.
const cellMissing = 0

// appendCell appends a cell to a key.
func appendCell(b []byte, c *rowtype.Cell) []byte {
	b = append(b, byte(c.Type)|byte(c.Unit)<<unitShift)
	switch c.Type {
	case dataset.Number:
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(c.Number))
	case dataset.Text:
		b = append(binary.AppendUvarint(b, uint64(len(c.Text))), c.Text...)
	}
	return b
}

var errRow = errors.New("transforms: not a tallied row")

// unitShift is the position of the unit in the first byte of a cell. The bits below are
// the type.
const unitShift = 4

// cellType is the type and the unit of the cells of a column. The zero cellType stands
// for a column without any value.
type cellType struct {
	typ  dataset.ValueType
	unit dataset.Unit
}

// keyCell is a cell of a key.
type keyCell struct {
	cellType

	number float64
	text   []byte // part of the key
}

// cutCell takes the first cell off a key.
func cutCell(b []byte) (c keyCell, rest []byte, err error) {
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

// tallyBytes is the memory of a bundle's tallies at which the bundle emits them early.
const tallyBytes = 64 << 20

// tallyFn counts the equal rows of a bundle, separately for each shard and each stretch
// of time. Its rows must come in the global window: FinishBundle can emit in no other.
type tallyFn struct {
	Spec    []byte        // trainSpec
	Shards  int           // rows go to shards by their hash
	Given   []byte        // plan with the bins of WindowConfig.Bins; empty: none are given
	Stretch time.Duration // windows consist of stretches of this length; 0: a window has all time
	Alone   bool          // emit each row by itself, as its windows depend on it (sessions)
	Refusal refusal

	// Earlier is the time after which a row counts again, as a row of the window before.
	// 0: it does not.
	Earlier time.Duration

	spec   *trainSpec
	reader *rowtype.Reader
	coder  *rowCoder // codes rows by the given bins; nil: none are given
	open   map[tallyKey]*timedTally
	held   int // bytes of open
	cells  []rowtype.Cell
	key    []byte
}

// tallyKey tells the tallies of a bundle apart.
type tallyKey struct{ shard, stretch int64 }

// timedTally is a tally with the time at which it is emitted.
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
	if f.spec.Part != "" {
		names = append(names, f.spec.Part)
	}
	for _, c := range f.spec.Columns {
		names = append(names, c.Name)
	}
	if f.reader, err = f.spec.Schema.Reader(names); err != nil || len(f.Given) == 0 {
		return err
	}
	p, err := openPlan(f.Given)
	if err != nil {
		return err
	}
	f.coder = newRowCoder(p, f.spec.Config.Label)
	return nil
}

func (f *tallyFn) StartBundle(context.Context, func(beam.EventTime, int64, []byte), func(DeadLetter)) {
	f.open, f.held = make(map[tallyKey]*timedTally), 0
}

func (f *tallyFn) ProcessElement(
	ctx context.Context, at beam.EventTime, row beam.T, emit func(beam.EventTime, int64, []byte), refuse func(DeadLetter),
) error {
	weight, labelEnd, err := f.encode(row)
	if err != nil {
		return f.Refusal.of(ctx, letter{row: row, at: at}, err, refuse)
	}
	var to tallyKey
	if f.Shards > 1 && labelEnd > 0 {
		to.shard = int64(dataset.HashKey(f.key[labelEnd:]) >> 32 % uint64(f.Shards))
	}
	if f.Stretch > 0 {
		to.stretch = dataset.FloorDiv(int64(at), f.Stretch.Milliseconds())
	}
	t := f.open[to]
	if t == nil {
		t = &timedTally{at: at}
		f.open[to] = t
	}
	t.at = max(t.at, at)
	before := t.Bytes()
	switch {
	case labelEnd == 0:
		t.Dropped++
	case weight > 0:
		t.Add(f.key)
	}
	f.held += t.Bytes() - before
	if f.held > tallyBytes || f.Alone {
		f.flush(emit)
	}
	return nil
}

func (f *tallyFn) FinishBundle(_ context.Context, emit func(beam.EventTime, int64, []byte), _ func(DeadLetter)) {
	f.flush(emit)
}

// flush emits the open tallies. Their order does not matter: they merge to the same
// bytes in any order.
func (f *tallyFn) flush(emit func(beam.EventTime, int64, []byte)) {
	for at, t := range f.open {
		if t.Empty() {
			continue
		}
		emit(t.at, at.shard, t.AppendBinary(nil))
		if f.Earlier > 0 {
			t.Dropped = 0 // dropped rows count once
			emit(t.at+beam.EventTime(f.Earlier.Milliseconds()), at.shard, asEarlier(t.AppendBinary(nil)))
		}
	}
	clear(f.open)
	f.held = 0
}

// asEarlier changes the kind of a tally's rows, in place: training rows become earlierRows.
func asEarlier(b []byte) []byte {
	r, err := dataset.ReadTally(b)
	for err == nil && r.Next() {
		if r.Key[0] == ownRows {
			r.Key[0] = earlierRows
		} else {
			r.Key[0] = noRows
		}
	}
	return b
}

// encode makes the key of a row. It returns the row's weight, and where the label ends in the
// key. labelEnd is 0 if the row has no label and is left out.
func (f *tallyFn) encode(row any) (weight float64, labelEnd int, err error) {
	if f.cells, err = f.reader.Read(row, f.cells[:0]); err != nil {
		return 0, 0, err
	}
	if f.spec.Config.Strict {
		if err := f.reader.CheckKeys(row, f.cells); err != nil {
			return 0, 0, err
		}
	}
	weight = 1
	features := f.cells[1:]
	c := &f.spec.Config
	if f.spec.weighted() {
		if weight, err = weigh(&f.cells[1], c.Weight); err != nil {
			return 0, 0, err
		}
		features = features[1:]
	}
	if f.cells[0].Type == 0 {
		if !c.DropNullLabels {
			return 0, 0, nullLabel(c.Label)
		}
		return 0, 0, nil
	}
	kind, bucket := ownRows, uint8(0)
	if f.spec.Part != "" {
		part, of, err := f.spec.partOf(&features[0])
		if err != nil {
			return 0, 0, err
		}
		kind, bucket, features = kindOfPart(part), of, features[1:]
	}
	f.key = appendCell(append(f.key[:0], kind), &f.cells[0])
	labelEnd = len(f.key)
	for i := range features {
		if err := f.fit(i, &features[i]); err != nil {
			return 0, 0, err
		}
		f.key = appendCell(f.key, &features[i])
	}
	if f.coder != nil {
		f.key, err = f.coder.code(f.key[:1], &f.cells[0], features)
	}
	if f.spec.groups() > 0 {
		f.key = append(f.key, bucket)
	}
	if f.spec.weighted() {
		f.key = appendCell(f.key, &f.cells[1])
	}
	return weight, labelEnd, err
}

// partOf returns the part of a row by the cell that decides, and the bucket of its group, 0 without a key.
func (s *trainSpec) partOf(x *rowtype.Cell) (part dataset.Part, bucket uint8, err error) {
	p := dataset.Parting{SplitColumn: s.Part, Shares: s.Config.Split, Seed: s.Config.Seed}
	if s.Config.Key != "" {
		part, bucket = p.OfKey(p.HashKey(x.Type, x.Number, x.Text))
		return part, bucket, nil
	}
	part, ok := dataset.ParsePart(x.Spell())
	if !ok {
		return part, 0, p.NameError(x.Spell(), "the row")
	}
	return part, 0, nil
}

// groups returns the number of training objects up to which objects keep the groups of their rows; 0: none.
func (s *trainSpec) groups() int64 {
	if s.Config.Key == "" {
		return 0
	}
	return s.foldGroups()
}

// foldGroups is groups for rows that are in groups.
func (s *trainSpec) foldGroups() int64 {
	settings := s.Config.Selection()
	return settings.Groups()
}

// fit converts the value of feature i to the type and the unit of the feature, or
// refuses it.
func (f *tallyFn) fit(i int, x *rowtype.Cell) error {
	column := &f.spec.Columns[i]
	if f.coder != nil {
		if in := f.coder.inputs[i]; in.Name != "" {
			return x.Fit(&in)
		}
	}
	if column.Kind == dataset.Numeric {
		if err := x.AsNumber(column.Name, column.Unit); err != nil {
			return err
		}
	}
	if x.Type == dataset.Number && column.Type == dataset.Number && x.Unit != column.Unit {
		return mixedTypes(column.Name)
	}
	return nil
}

// rowCoder encodes rows one by one, by given bins.
type rowCoder struct {
	plan     *plan
	label    string
	classes  map[string]uint16
	encoders []*dataset.Encoder
	inputs   map[int]tree.Input // by position in trainSpec.Columns

	vector  dataset.Vector
	scratch []uint16
}

func newRowCoder(p *plan, label string) *rowCoder {
	c := &rowCoder{
		plan: p, label: label, classes: dataset.ClassCodes(p.Classes), encoders: dataset.NewEncoders(p.features),
		inputs: make(map[int]tree.Input),
	}
	for i := range p.features {
		f := &p.features[i]
		c.inputs[p.Columns[i]] = tree.Input{Name: f.Name, Kind: f.Kind, Unit: f.Unit, Zone: f.Zone}
	}
	return c
}

// code appends the code of a row's class and the codes of its features to dst.
func (c *rowCoder) code(dst []byte, label *rowtype.Cell, features []rowtype.Cell) ([]byte, error) {
	class, err := classCode(c.classes, label.Spell(), c.label)
	if err != nil {
		return nil, err
	}
	dst = binary.AppendUvarint(dst, uint64(class))
	at := len(dst)
	dst = append(dst, make([]byte, c.plan.layout.Stride)...)
	for i, encoder := range c.encoders {
		x := &features[c.plan.Columns[i]]
		v := &c.vector
		if x.Type == dataset.Text {
			if c.plan.features[i].Kind == dataset.Numeric {
				return nil, mixedTypes(c.plan.features[i].Name)
			}
			*v = dataset.Vector{
				Type: dataset.Text, Index: append(v.Index[:0], 0), Texts: append(v.Texts[:0], x.Text),
				Numbers: v.Numbers,
			}
		} else {
			number := x.Number
			if x.Type == 0 {
				number = math.NaN()
			}
			*v = dataset.Vector{Type: dataset.Number, Numbers: append(v.Numbers[:0], number), Texts: v.Texts}
		}
		c.scratch = encoder.Encode(v, dst[at:], c.plan.layout.Offsets[i], c.plan.layout.Stride, c.scratch)
	}
	return dst, nil
}

// objects merges the rows of a tally that tallyFn has coded into objects.
func (s *trainSpec) objects(p *plan, tally []byte) (tables partTables, err error) {
	r, err := dataset.ReadTally(tally)
	if err != nil {
		return tables, err
	}
	p.Dropped = r.Dropped
	if p.Units, err = s.unitsIn(tally, ownRows); err != nil {
		return tables, err
	}
	tables = s.newTables(p)
	bucketBytes, byWeight := 0, s.weightClasses(p)
	if s.groups() > 0 {
		bucketBytes = 1
	}
	for r.Next() {
		row, weight, err := s.weightIn(r, p.Units)
		if err != nil {
			return tables, err
		}
		class, n := binary.Uvarint(row[min(1, len(row)):])
		if n <= 0 || class >= uint64(len(p.Classes)) || len(row) != 1+n+p.layout.Stride+bucketBytes ||
			row[0] < ownRows || row[0] >= kindOfPart(dataset.Part(dataset.Parts)) {
			return tables, errRow
		}
		key, bucket := row[1+n:1+n+p.layout.Stride], uint8(0)
		if bucketBytes > 0 {
			bucket = row[len(row)-1]
		}
		if bucket >= dataset.Buckets {
			return tables, errRow
		}
		if byWeight {
			bucket = dataset.WeightClass(weight/r.Rows, p.Units[row[0]-ownRows].Scale)
		}
		tables[row[0]-ownRows].AddGrouped(key, dataset.HashKey(key), bucket, uint16(class), weight, r.Rows)
	}
	return tables, r.Err()
}

// nullLabel returns the error of a row without a label.
func nullLabel(column string) error {
	return dataset.NullLabel(column, "a row", "set DropNullLabels to leave such rows out")
}

// mergeTalliesFn merges the tallies of a key.
type mergeTalliesFn struct{}

// tallies are encoded tallies. They are merged once the new ones take as many bytes as
// the merged one, so that no row is merged more than a few times.
type tallies struct {
	list   [][]byte // the merged tally, then new ones
	merged int      // bytes of the merged tally
	bytes  int      // bytes of the new ones
}

func (t *tallies) add(b []byte) error {
	t.list = append(t.list, b)
	if t.bytes += len(b); t.bytes < max(t.merged, 1<<20) {
		return nil
	}
	return t.merge()
}

func (t *tallies) merge() error {
	if len(t.list) < 2 {
		return nil
	}
	b, err := dataset.MergeTallies(t.list...)
	*t = tallies{list: [][]byte{b}, merged: len(b)}
	return err
}

func encodeTallies(t tallies) ([]byte, error) {
	if len(t.list) == 0 {
		return nil, nil
	}
	err := t.merge()
	return t.list[0], err
}

func decodeTallies(b []byte) tallies {
	if len(b) == 0 {
		return tallies{}
	}
	return tallies{list: [][]byte{b}, merged: len(b)}
}

func (f *mergeTalliesFn) CreateAccumulator() tallies { return tallies{} }

func (f *mergeTalliesFn) AddInput(t tallies, b []byte) (tallies, error) {
	if len(b) == 0 { // of noRowsFn
		return t, nil
	}
	err := t.add(b)
	return t, err
}

func (f *mergeTalliesFn) MergeAccumulators(t, o tallies) (tallies, error) {
	for _, b := range o.list {
		if err := t.add(b); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (f *mergeTalliesFn) ExtractOutput(t tallies) ([]byte, error) { return encodeTallies(t) }

package transforms

import (
	"bytes"
	"context"
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/wire"
)

// packing encodes rows that wait for trees, many rows to an element: an element costs a
// runner more time and memory than the row in it.
type packing struct {
	Types []beam.EncodedType // type of the rows, after the type of their keys if they have keys

	coders []packCoder // by type
	rows   []letter    // memory for decoded rows
	next   []letter    // memory for the rows after them
}

// packCoder encodes and decodes the values of a type.
type packCoder struct {
	plain   reflect.Value // memory for a value; the zero Value if values are not plain
	encoder beam.ElementEncoder
	decoder beam.ElementDecoder
}

// newPacking returns the packing of a PCollection<T> or PCollection<KV<K, T>>.
func newPacking(rows beam.PCollection) packing {
	types := []beam.FullType{rows.Type()}
	if typex.IsKV(rows.Type()) {
		types = rows.Type().Components()
	}
	var p packing
	for _, t := range types {
		p.Types = append(p.Types, beam.EncodedType{T: t.Type()})
	}
	return p
}

// Setup makes the coders.
func (p *packing) Setup() {
	for _, t := range p.Types {
		var c packCoder
		if isPlain(t.T) {
			c.plain = reflect.New(t.T).Elem()
		} else {
			c.encoder, c.decoder = beam.NewElementEncoder(t.T), beam.NewElementDecoder(t.T)
		}
		p.coders = append(p.coders, c)
	}
}

// values returns the values of a row in the order of Types.
func (p *packing) values(l *letter) []*any { return []*any{&l.key, &l.row}[2-len(p.Types):] }

// append encodes the key of a row if it has a key, and the row. In a pack, the time since the row before comes first.
func (p *packing) append(b *bytes.Buffer, l *letter) error {
	for i, value := range p.values(l) {
		if c := &p.coders[i]; c.plain.IsValid() {
			b.Write(appendPlain(b.AvailableBuffer(), reflect.ValueOf(*value)))
		} else if err := c.encoder.Encode(*value, b); err != nil {
			return err
		}
	}
	return nil
}

// decode decodes a row.
func (p *packing) decode(r *wire.Reader, before beam.EventTime) (l letter, err error) {
	l.at = before + beam.EventTime(r.Varint())
	for i, value := range p.values(&l) {
		if c := &p.coders[i]; c.plain.IsValid() {
			readPlain(r, c.plain)
			*value = c.plain.Interface() // a copy
		} else {
			rest := bytes.NewReader(r.Rest)
			if *value, err = c.decoder.Decode(rest); err != nil {
				return l, err
			}
			r.Rest = r.Rest[len(r.Rest)-rest.Len():]
		}
	}
	if r.Bad {
		return l, elements.ErrValue
	}
	return l, nil
}

// openPacks are the packs of a bundle that are not emitted yet, by stretch of time.
type openPacks struct {
	Window int64 // size in ms of the fixed windows whose starts are the stretches; 0: stretches have numbers

	open  map[int64]*openPack
	held  int       // bytes of all packs
	spare *openPack // a pack that was emitted, whose memory the next one takes
}

// openPack is a pack that is not emitted yet.
type openPack struct {
	rows     bytes.Buffer
	count    int            // of rows
	earliest beam.EventTime // time of the earliest row
	last     beam.EventTime // time of the last row
}

// A pack is emitted when it has packBytes, and all packs of a bundle when they have packsBytes together.
const (
	packBytes  = 256 << 10
	packsBytes = 64 << 20
)

func (o *openPacks) StartBundle(func(beam.EventTime, []byte)) {
	o.open = make(map[int64]*openPack)
	o.held = 0
}

// add adds a row, whose values write appends.
func (o *openPacks) add(
	stretch int64, at beam.EventTime, alone bool, emit func(beam.EventTime, []byte), write func(*bytes.Buffer) error,
) error {
	p := o.open[stretch]
	if p == nil {
		if p = o.spare; p == nil {
			p = new(openPack)
		}
		o.spare = nil
		p.earliest = at
		o.open[stretch] = p
	}
	p.earliest = min(p.earliest, at)
	before := p.rows.Len()
	p.rows.Write(wire.Writer(p.rows.AvailableBuffer()).Varint(int64(at - p.last)))
	p.last = at
	p.count++
	err := write(&p.rows)
	o.held += p.rows.Len() - before
	switch {
	case p.rows.Len() >= packBytes || alone:
		o.emit(stretch, emit)
	case o.held >= packsBytes:
		o.FinishBundle(emit)
	}
	return err
}

// emit emits a pack at the time of its earliest row: no row is earlier than its pack, unless the time of the row is
// outside its window.
func (o *openPacks) emit(stretch int64, emit func(beam.EventTime, []byte)) {
	p := o.open[stretch]
	at := p.earliest
	if o.Window > 0 {
		at = min(max(at, beam.EventTime(stretch)), beam.EventTime(stretch+o.Window-1))
	}
	// A copy, because the buffer has up to twice the memory.
	emit(at, slices.Concat(p.rows.Bytes(), binary.LittleEndian.AppendUint32(nil, uint32(p.count))))
	o.held -= p.rows.Len()
	delete(o.open, stretch)
	p.rows.Reset()
	p.last = 0
	p.count = 0
	o.spare = p
}

// countBytes is the length of the number of rows, with which a pack ends.
const countBytes = 4

// rowsOfPack returns the number of rows of a pack, also of another program's; 0 if it is damaged.
func rowsOfPack(pack []byte) int64 {
	if len(pack) < countBytes {
		return 0
	}
	at := len(pack) - countBytes
	count := int64(binary.LittleEndian.Uint32(pack[at:]))
	if count > int64(at) { // a row takes at least a byte
		return 0
	}
	return count
}

// FinishBundle emits the open packs.
func (o *openPacks) FinishBundle(emit func(beam.EventTime, []byte)) {
	for stretch := range o.open {
		o.emit(stretch, emit)
	}
}

// packFn packs the rows of a bundle.
type packFn struct {
	packing
	openPacks

	Alone   bool  // emit each row separately, because FinishBundle can emit in the global window only
	Stretch int64 // rows of a pack are in one stretch of time of this length in ms; 0: any rows
}

func (f *packFn) ProcessElement(at beam.EventTime, row beam.T, emit func(beam.EventTime, []byte)) error {
	return f.add(&letter{row: row, at: at}, emit)
}

func (f *packFn) add(l *letter, emit func(beam.EventTime, []byte)) error {
	stretch := int64(0)
	if f.Stretch > 0 {
		stretch = dataset.FloorDiv(int64(l.at), f.Stretch)
	}
	return f.openPacks.add(stretch, l.at, f.Alone, emit, func(b *bytes.Buffer) error { return f.append(b, l) })
}

// packKeyedFn packs rows with keys.
type packKeyedFn struct{ packFn }

func (f *packKeyedFn) ProcessElement(at beam.EventTime, key beam.X, row beam.T, emit func(beam.EventTime, []byte)) error {
	return f.add(&letter{row: row, key: key, at: at}, emit)
}

// pack packs rows, which may have keys.
func (f *packFn) pack(s beam.Scope, rows beam.PCollection) (beam.PCollection, error) {
	var packer any = f
	if len(f.Types) > 1 {
		packer = &packKeyedFn{*f}
	}
	packs, err := beam.TryParDo(s, packer, rows)
	if err != nil {
		return beam.PCollection{}, err
	}
	return packs[0], nil
}

// inWindowFn encodes rows in fixed windows after the start of their window, in startBytes.
type inWindowFn struct {
	packing

	block []byte // memory of rows, as memory for each row takes longer to get than a row to encode
}

const (
	startBytes = 8
	blockBytes = 64 << 10
)

func (f *inWindowFn) ProcessElement(w beam.Window, row beam.T, emit func([]byte)) error {
	return f.encode(w, &letter{row: row}, emit)
}

func (f *inWindowFn) encode(w beam.Window, l *letter, emit func([]byte)) error {
	interval, ok := w.(window.IntervalWindow)
	if !ok {
		return elements.ErrValue
	}
	used := len(f.block)
	b := bytes.NewBuffer(binary.LittleEndian.AppendUint64(f.block[used:], uint64(interval.Start)))
	err := f.append(b, l)
	row := b.Bytes()
	if used+len(row) <= cap(f.block) {
		f.block = f.block[:used+len(row)]
	} else { // the buffer has memory of its own
		f.block = make([]byte, 0, max(blockBytes, 2*len(row)))
	}
	emit(row[:len(row):len(row)])
	return err
}

// inWindowKeyedFn is inWindowFn for rows with keys.
type inWindowKeyedFn struct{ inWindowFn }

func (f *inWindowKeyedFn) ProcessElement(w beam.Window, key beam.X, row beam.T, emit func([]byte)) error {
	return f.encode(w, &letter{row: row, key: key}, emit)
}

// packWindowsFn packs the rows of inWindowFn by window.
type packWindowsFn struct{ openPacks }

func (f *packWindowsFn) ProcessElement(at beam.EventTime, row []byte, emit func(beam.EventTime, []byte)) error {
	if len(row) < startBytes {
		return elements.ErrValue
	}
	return f.add(int64(binary.LittleEndian.Uint64(row)), at, false, emit, func(b *bytes.Buffer) error {
		b.Write(row[startBytes:])
		return nil
	})
}

// packWindows packs rows in fixed windows by window. The windows are assigned to the packs again, by times that are in
// them, because FinishBundle can emit in the global window only.
func (p *packing) packWindows(s beam.Scope, rows beam.PCollection) (beam.PCollection, error) {
	var encoder any = &inWindowFn{packing: *p}
	if len(p.Types) > 1 {
		encoder = &inWindowKeyedFn{inWindowFn{packing: *p}}
	}
	encoded, err := beam.TryParDo(s, encoder, rows)
	if err != nil {
		return beam.PCollection{}, err
	}
	fn := &packWindowsFn{openPacks{Window: rows.WindowingStrategy().Fn.Size.Milliseconds()}}
	return inWindowsOf(s, rows, beam.ParDo(s, fn, beam.WindowInto(s, window.NewGlobalWindows(), encoded[0]))), nil
}

// scorePacked scores rows, which may have keys, by the trees of a side input. Rows in sliding and in session windows are
// alone in their packs: the time of a pack does not determine its window.
func scorePacked(s beam.Scope, rows, trees beam.PCollection, fn scoring) (_ []beam.PCollection, err error) {
	f := &packFn{packing: newPacking(rows)}
	var packs beam.PCollection
	if kind := rows.WindowingStrategy().Fn.Kind; kind == window.FixedWindows {
		packs, err = f.packWindows(s, rows)
	} else {
		f.Alone = kind != window.GlobalWindows
		packs, err = f.pack(s, rows)
	}
	if err != nil {
		return nil, err
	}
	score := &scorePacksFn{packScoring{scoring: fn, Packing: f.packing}, byTrees{Side: *trees.WindowingStrategy().Fn}}
	return beam.TryParDo(s, score, packs,
		beam.SideInput{Input: numberedTrees(s, trees)}, beam.TypeDefinition{Var: beam.TType, T: f.Types[0].T})
}

// packScoring scores packed rows.
type packScoring struct {
	scoring

	Packing packing
}

// Setup decodes the schema and makes the coders.
func (f *packScoring) Setup() error {
	f.Packing.Setup()
	return f.scoring.Setup()
}

// scorePack scores the rows of a pack, which are unusable if the scorer is nil, or has a fault. It emits the key of a row
// that has a key, otherwise the row, with its prediction.
func (f *packScoring) scorePack(
	ctx context.Context, s *scorer, pack []byte, unusable func() error,
	emit func(beam.EventTime, beam.T, Prediction), refuse func(beam.EventTime, DeadLetter),
) error {
	if s != nil && !s.usable() {
		unusable = func() error { return s.fault }
	}
	return f.Packing.each(pack, func(l *letter) (err error) {
		refuseRow := func(d DeadLetter) { refuse(l.at, d) }
		if !s.usable() {
			return f.Refusal.of(ctx, *l, unusable(), refuseRow)
		}
		p, scored, err := f.score(ctx, s, *l, refuseRow)
		if scored {
			emit(l.at, *f.Packing.values(l)[0], p)
		}
		return err
	})
}

// scorePacksFn scores packed rows by the trees of a side input.
type scorePacksFn struct {
	packScoring
	byTrees
}

func (f *scorePacksFn) ProcessElement(
	ctx context.Context, w beam.Window, pack []byte, trees func(*[]byte) bool,
	emit func(beam.EventTime, beam.T, Prediction), refuse func(beam.EventTime, DeadLetter),
) error {
	s := f.of(ctx, w, f.schema, trees)
	defer f.usage.flush(ctx) // a FinishBundle of a DoFn with a side input would have to read it
	return f.scorePack(ctx, s, pack, noTree, emit, refuse)
}

// unpack returns the rows of packs, with their keys.
func (p *packing) unpack(s beam.Scope, packs beam.PCollection) (beam.PCollection, error) {
	var fn any = &unpackFn{*p}
	types := []beam.Option{beam.TypeDefinition{Var: beam.TType, T: p.Types[len(p.Types)-1].T}}
	if len(p.Types) > 1 {
		fn = &unpackKeyedFn{*p}
		types = append(types, beam.TypeDefinition{Var: beam.XType, T: p.Types[0].T})
	}
	rows, err := beam.TryParDo(s, fn, packs, types...)
	if err != nil {
		return beam.PCollection{}, err
	}
	return rows[0], nil
}

// each calls use for each row of a pack, in order. Further rows are decoded in the background meanwhile.
func (p *packing) each(pack []byte, use func(l *letter) error) error {
	if len(pack) < countBytes {
		return elements.ErrValue
	}
	r := wire.Reader{Rest: pack[:len(pack)-countBytes]}
	next := p.next
	rows, fault := p.some(&r, 0, p.rows[:0])
	defer func() {
		p.rows = rows
		p.next = next
		clear(rows[:cap(rows)])
		clear(next[:cap(next)])
	}()
	for len(rows) > 0 {
		var decoding parallel.Group
		var following error
		if fault == nil && len(r.Rest) > 0 {
			last := rows[len(rows)-1].at
			decoding.Go(func() { next, following = p.some(&r, last, next[:0]) })
		} else {
			next = next[:0]
		}
		err := func() error {
			defer decoding.Wait() // also if use panics, as emitters do
			return useAll(rows, use)
		}()
		if err != nil {
			return err
		}
		if fault != nil {
			return fault
		}
		rows, next, fault = next, rows, following
	}
	return fault
}

// some decodes rows. Rows before an invalid row are returned with the error.
func (p *packing) some(r *wire.Reader, before beam.EventTime, rows []letter) ([]letter, error) {
	for len(rows) < rowsTogether && len(r.Rest) > 0 {
		l, err := p.decode(r, before)
		if err != nil {
			return rows, err
		}
		rows = append(rows, l)
		before = l.at
	}
	return rows, nil
}

func useAll(rows []letter, use func(l *letter) error) error {
	for i := range rows {
		if err := use(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// unpackFn emits the rows of packs.
type unpackFn struct{ packing }

func (f *unpackFn) ProcessElement(pack []byte, emit func(beam.EventTime, beam.T)) error {
	return f.each(pack, func(l *letter) error {
		emit(l.at, l.row)
		return nil
	})
}

// unpackKeyedFn emits the rows of packs with their keys.
type unpackKeyedFn struct{ packing }

func (f *unpackKeyedFn) ProcessElement(pack []byte, emit func(beam.EventTime, beam.X, beam.T)) error {
	return f.each(pack, func(l *letter) error {
		emit(l.at, l.key, l.row)
		return nil
	})
}

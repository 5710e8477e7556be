package transforms

import (
	"bytes"
	"context"
	"reflect"

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

// append encodes the time between two rows, the key of the second row if it has a key, and the row.
func (p *packing) append(b *bytes.Buffer, before beam.EventTime, l *letter) error {
	b.Write(wire.Writer(b.AvailableBuffer()).Varint(int64(l.at - before)))
	for i, value := range p.values(l) {
		if c := &p.coders[i]; c.plain.IsValid() {
			b.Write(appendPlain(b.AvailableBuffer(), reflect.ValueOf(*value)))
		} else if err := c.encoder.Encode(*value, b); err != nil {
			return err
		}
	}
	return nil
}

// next decodes a row.
func (p *packing) next(r *wire.Reader, before beam.EventTime) (l letter, err error) {
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

// packFn packs the rows of a bundle.
type packFn struct {
	packing

	Alone   bool  // emit each row separately, because FinishBundle can emit in the global window only
	Stretch int64 // rows of a pack are in one stretch of time of this length in ms; 0: any rows

	open map[int64]*openPack // by stretch
}

// openPack is a pack that is not emitted yet.
type openPack struct {
	rows     bytes.Buffer
	earliest beam.EventTime // time of the earliest row
	last     beam.EventTime // time of the last row
}

// packBytes is the size at which a pack is emitted.
const packBytes = 256 << 10

func (f *packFn) StartBundle(func(beam.EventTime, []byte)) { f.open = make(map[int64]*openPack) }

func (f *packFn) ProcessElement(at beam.EventTime, row beam.T, emit func(beam.EventTime, []byte)) error {
	return f.add(&letter{row: row, at: at}, emit)
}

func (f *packFn) add(l *letter, emit func(beam.EventTime, []byte)) error {
	stretch := int64(0)
	if f.Stretch > 0 {
		stretch = dataset.FloorDiv(int64(l.at), f.Stretch)
	}
	p := f.open[stretch]
	if p == nil {
		p = new(openPack)
		f.open[stretch] = p
	}
	if p.rows.Len() == 0 {
		p.earliest = l.at
		p.last = 0
	}
	p.earliest = min(p.earliest, l.at)
	err := f.append(&p.rows, p.last, l)
	p.last = l.at
	if p.rows.Len() >= packBytes || f.Alone {
		p.emit(emit)
	}
	return err
}

// emit emits the rows, at the time of the earliest row: no row is earlier than its pack.
func (p *openPack) emit(emit func(beam.EventTime, []byte)) {
	if p.rows.Len() > 0 {
		emit(p.earliest, bytes.Clone(p.rows.Bytes()))
		p.rows.Reset()
	}
}

// FinishBundle emits the open packs.
func (f *packFn) FinishBundle(emit func(beam.EventTime, []byte)) {
	for _, p := range f.open {
		p.emit(emit)
	}
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

// scorePacked scores rows, which may have keys, by the trees of a side input.
func scorePacked(s beam.Scope, rows, trees beam.PCollection, fn scoring) ([]beam.PCollection, error) {
	f := &packFn{packing: newPacking(rows), Alone: rows.WindowingStrategy().Fn.Kind != window.GlobalWindows}
	packs, err := f.pack(s, rows)
	if err != nil {
		return nil, err
	}
	return beam.TryParDo(s, &scorePacksFn{packScoring: packScoring{scoring: fn, Packing: f.packing}}, packs,
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

// scorePack scores the rows of a pack, which are unusable if the scorer is nil. It emits the key of a row that has a key,
// otherwise the row, with its prediction.
func (f *packScoring) scorePack(
	ctx context.Context, s *scorer, pack []byte, unusable func() error,
	emit func(beam.EventTime, beam.T, Prediction), refuse func(beam.EventTime, DeadLetter),
) error {
	return f.Packing.each(pack, func(l *letter) (err error) {
		refuseRow := func(d DeadLetter) { refuse(l.at, d) }
		if s == nil {
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
	s, err := f.of(w, f.schema, trees)
	if err != nil {
		return elements.Carry(err)
	}
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
	r := wire.Reader{Rest: pack}
	rows := make([]letter, 0, rowsTogether)
	next := make([]letter, 0, rowsTogether)
	rows, fault := p.some(&r, 0, rows)
	for len(rows) > 0 {
		var decoding parallel.Group
		var following error
		if fault == nil && len(r.Rest) > 0 {
			last := rows[len(rows)-1].at
			decoding.Go(func() { next, following = p.some(&r, last, next[:0]) })
		} else {
			next = next[:0]
		}
		err := useAll(rows, use)
		decoding.Wait()
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
	for len(rows) < cap(rows) && len(r.Rest) > 0 {
		l, err := p.next(r, before)
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

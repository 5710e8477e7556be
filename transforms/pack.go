package transforms

import (
	"bytes"
	"context"
	"encoding/binary"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"

	"github.com/espalier-ml/espalier/induce/wire"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// packing encodes rows that wait for a side input, many rows to an element: an element costs a
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
	b.Write(binary.AppendVarint(b.AvailableBuffer(), int64(l.at-before)))
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
		return l, jobs.ErrValue
	}
	return l, nil
}

// packFn packs the rows of a bundle.
type packFn struct {
	packing

	Alone bool // emit each row separately, because FinishBundle can emit in the global window only

	rows     bytes.Buffer
	earliest beam.EventTime // time of the earliest row
	last     beam.EventTime // time of the last row
}

// packBytes is the size at which a pack is emitted.
const packBytes = 256 << 10

func (f *packFn) StartBundle(func(beam.EventTime, []byte)) { f.rows.Reset() }

func (f *packFn) ProcessElement(at beam.EventTime, row beam.T, emit func(beam.EventTime, []byte)) error {
	return f.add(&letter{row: row, at: at}, emit)
}

func (f *packFn) add(l *letter, emit func(beam.EventTime, []byte)) error {
	if f.rows.Len() == 0 {
		f.earliest = l.at
		f.last = 0
	}
	f.earliest = min(f.earliest, l.at)
	err := f.append(&f.rows, f.last, l)
	f.last = l.at
	if f.rows.Len() >= packBytes || f.Alone {
		f.FinishBundle(emit)
	}
	return err
}

// FinishBundle emits the rows, at the time of the earliest row: no row is earlier than its pack.
func (f *packFn) FinishBundle(emit func(beam.EventTime, []byte)) {
	if f.rows.Len() > 0 {
		emit(f.earliest, bytes.Clone(f.rows.Bytes()))
		f.rows.Reset()
	}
}

// packKeyedFn packs rows with keys.
type packKeyedFn struct{ packFn }

func (f *packKeyedFn) ProcessElement(at beam.EventTime, key beam.X, row beam.T, emit func(beam.EventTime, []byte)) error {
	return f.add(&letter{row: row, key: key, at: at}, emit)
}

// scorePacked scores rows, which may have keys, by the trees of a side input.
func scorePacked(s beam.Scope, rows, trees beam.PCollection, fn scoring) ([]beam.PCollection, error) {
	f := packFn{packing: newPacking(rows), Alone: rows.WindowingStrategy().Fn.Kind != window.GlobalWindows}
	var packer any = &f
	if len(f.Types) > 1 {
		packer = &packKeyedFn{f}
	}
	packs, err := beam.TryParDo(s, packer, rows)
	if err != nil {
		return nil, err
	}
	return beam.TryParDo(s, &scorePacksFn{scoring: fn, Packing: f.packing}, packs[0],
		beam.SideInput{Input: numberedTrees(s, trees)}, beam.TypeDefinition{Var: beam.TType, T: f.Types[0].T})
}

// scorePacksFn scores packed rows by the trees of a side input.
type scorePacksFn struct {
	scoring
	byTrees

	Packing packing
}

// Setup decodes the schema and makes the coders.
func (f *scorePacksFn) Setup() error {
	f.Packing.Setup()
	return f.scoring.Setup()
}

// ProcessElement emits the key of a row that has a key, otherwise the row, with its prediction.
func (f *scorePacksFn) ProcessElement(
	ctx context.Context, w beam.Window, pack []byte, trees func(*[]byte) bool,
	emit func(beam.EventTime, beam.T, Prediction), refuse func(beam.EventTime, DeadLetter),
) error {
	s, err := f.of(w, f.schema, trees)
	if err != nil {
		return jobs.Carry(err)
	}
	defer f.usage.flush(ctx) // a FinishBundle of a DoFn with a side input would have to read it
	var l letter
	refuseRow := func(d DeadLetter) { refuse(l.at, d) }
	for r := (wire.Reader{Rest: pack}); len(r.Rest) > 0; {
		if l, err = f.Packing.next(&r, l.at); err != nil {
			return err
		}
		if s == nil {
			err = f.Refusal.of(ctx, l, noTree(), refuseRow)
		} else if p, scored, fault := f.score(ctx, s, l, refuseRow); scored {
			emit(l.at, *f.Packing.values(&l)[0], p)
		} else {
			err = fault
		}
		if err != nil {
			return err
		}
	}
	return nil
}

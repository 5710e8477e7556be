package transforms

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"

	"github.com/espalier-ml/espalier/transforms/jobs"
)

// pack is several rows as a single element. Rows that wait for a side input are packed, because
// each element costs a runner more than scoring a row.
type pack struct {
	rows    []letter
	encoded []byte // rows, if the runner has encoded the pack
	coding  *packCoding
}

// packCoding are the types of packed rows.
type packCoding struct {
	Types []beam.EncodedType // type of the rows, after the type of their keys if they have keys

	encoders []beam.ElementEncoder
	decoders []beam.ElementDecoder
}

// newPackCoding returns the types of a PCollection<T> or PCollection<KV<K, T>>.
func newPackCoding(rows beam.PCollection) packCoding {
	types := []beam.FullType{rows.Type()}
	if typex.IsKV(rows.Type()) {
		types = rows.Type().Components()
	}
	var c packCoding
	for _, t := range types {
		c.Types = append(c.Types, beam.EncodedType{T: t.Type()})
	}
	return c
}

// Setup makes the coders.
func (c *packCoding) Setup() {
	for _, t := range c.Types {
		c.encoders = append(c.encoders, beam.NewElementEncoder(t.T))
		c.decoders = append(c.decoders, beam.NewElementDecoder(t.T))
	}
}

// values returns the values of a row in the order of Types.
func (c *packCoding) values(l *letter) []*any { return []*any{&l.key, &l.row}[2-len(c.Types):] }

// encodePack encodes the time of each row, its key if it has a key, and the row.
func encodePack(p pack) ([]byte, error) {
	if p.coding == nil {
		return p.encoded, nil
	}
	var b bytes.Buffer
	for i := range p.rows {
		b.Write(binary.BigEndian.AppendUint64(b.AvailableBuffer(), uint64(p.rows[i].at)))
		for v, value := range p.coding.values(&p.rows[i]) {
			if err := p.coding.encoders[v].Encode(*value, &b); err != nil {
				return nil, err
			}
		}
	}
	return b.Bytes(), nil
}

func decodePack(b []byte) pack { return pack{encoded: b} }

// open returns the rows of a pack.
func (c *packCoding) open(p pack) (rows []letter, err error) {
	if p.coding != nil {
		return p.rows, nil
	}
	for r := bytes.NewReader(p.encoded); r.Len() > 0; {
		var l letter
		if err := binary.Read(r, binary.BigEndian, &l.at); err != nil {
			return nil, jobs.ErrValue
		}
		for v, value := range c.values(&l) {
			if *value, err = c.decoders[v].Decode(r); err != nil {
				return nil, err
			}
		}
		rows = append(rows, l)
	}
	return rows, nil
}

// packFn packs the rows of a bundle.
type packFn struct {
	packCoding

	Alone bool // emit each row separately, because FinishBundle can emit in the global window only

	rows []letter
}

// packRows is the number of rows in a pack.
const packRows = 256

func (f *packFn) ProcessElement(at beam.EventTime, row beam.T, emit func(beam.EventTime, pack)) {
	f.add(letter{row: row, at: at}, emit)
}

func (f *packFn) add(l letter, emit func(beam.EventTime, pack)) {
	f.rows = append(f.rows, l)
	if len(f.rows) == packRows || f.Alone {
		f.FinishBundle(emit)
	}
}

// FinishBundle emits the rows, at the time of the earliest row: the rows of a later pack are not late.
func (f *packFn) FinishBundle(emit func(beam.EventTime, pack)) {
	if len(f.rows) == 0 {
		return
	}
	at := f.rows[0].at
	for i := range f.rows {
		at = min(at, f.rows[i].at)
	}
	emit(at, pack{rows: f.rows, coding: &f.packCoding})
	f.rows = nil
}

// packKeyedFn packs rows with keys.
type packKeyedFn struct{ packFn }

func (f *packKeyedFn) ProcessElement(at beam.EventTime, key beam.X, row beam.T, emit func(beam.EventTime, pack)) {
	f.add(letter{row: row, key: key, at: at}, emit)
}

// packed packs rows, which may have keys.
func packed(s beam.Scope, rows beam.PCollection) ([]beam.PCollection, error) {
	fn := packFn{packCoding: newPackCoding(rows), Alone: rows.WindowingStrategy().Fn.Kind != window.GlobalWindows}
	if len(fn.Types) > 1 {
		return beam.TryParDo(s, &packKeyedFn{fn}, rows)
	}
	return beam.TryParDo(s, &fn, rows)
}

// scorePacksFn scores packed rows by the trees of a side input.
type scorePacksFn struct {
	scoring
	byTrees

	Coding packCoding
}

// Setup decodes the schema and makes the coders.
func (f *scorePacksFn) Setup() error {
	f.Coding.Setup()
	return f.scoring.Setup()
}

// ProcessElement emits the keys of rows that have keys, and other rows themselves.
func (f *scorePacksFn) ProcessElement(
	ctx context.Context, w beam.Window, p pack, trees func(*[]byte) bool,
	emit func(beam.EventTime, beam.T, Prediction), refuse func(beam.EventTime, DeadLetter),
) error {
	s, err := f.of(w, f.schema, trees)
	if err != nil {
		return jobs.Carry(err)
	}
	rows, err := f.Coding.open(p)
	if err != nil {
		return err
	}
	defer f.usage.flush(ctx) // a FinishBundle of a DoFn with a side input would have to read it
	var at beam.EventTime
	refuseRow := func(d DeadLetter) { refuse(at, d) }
	for i := range rows {
		at = rows[i].at
		if s == nil {
			err = f.Refusal.of(ctx, rows[i], noTree(), refuseRow)
		} else {
			var found Prediction
			var scored bool
			if found, scored, err = f.score(ctx, s, rows[i], refuseRow); scored {
				emit(at, *f.Coding.values(&rows[i])[0], found)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

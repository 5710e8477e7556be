package transforms

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	gocmp "github.com/google/go-cmp/cmp"
)

// plainRow has all kinds of plain values.
type plainRow struct {
	A bool
	B int
	C int8
	D uint64
	E float32
	F float64
	G string
	H *float64
	I *string
	J struct{ K, L int64 }
}

func init() { beam.RegisterType(reflect.TypeFor[benchmarkMap]()) }

// randomRow returns a row of a type.
func randomRow(random *rand.Rand, t reflect.Type) any {
	text := strings.Repeat("red", random.IntN(100))
	if t == reflect.TypeFor[benchmarkMap]() {
		return benchmarkMap{"color": text, "age": random.Float64()}
	}
	row := plainRow{
		random.IntN(2) == 0, -random.IntN(1000), int8(random.IntN(256) - 128), random.Uint64(), float32(random.NormFloat64()),
		random.NormFloat64(), text, nil, nil,
		struct{ K, L int64 }{random.Int64(), -random.Int64()},
	}
	if random.IntN(2) == 0 {
		row.F = float64(random.IntN(100))
		row.H, row.I = &row.F, &row.G
	}
	return row
}

// TestPack: the rows of packs are the rows that were packed, with their keys and times, in order. No
// row is earlier than its pack. Rows outside the global window are alone in their packs.
func TestPack(t *testing.T) {
	for _, rows := range []reflect.Type{reflect.TypeFor[plainRow](), reflect.TypeFor[benchmarkMap]()} {
		for _, alone := range []bool{false, true} {
			testPack(t, rows, alone)
		}
	}
}

func testPack(t *testing.T, rows reflect.Type, alone bool) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	f := packKeyedFn{packFn{Alone: alone, packing: packing{Types: []beam.EncodedType{{T: reflect.TypeFor[int64]()}, {T: rows}}}}}
	f.Setup()
	var got, want []letter
	packs := 0
	counted := int64(0)
	emit := func(at beam.EventTime, pack []byte) {
		packs++
		counted += rowsOfPack(pack)
		err := f.each(pack, func(l *letter) error {
			if l.at < at {
				t.Errorf("a row at %v in a pack at %v", l.at, at)
			}
			got = append(got, *l)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	f.StartBundle(emit)
	for i := range 4000 {
		l := letter{row: randomRow(random, rows), key: int64(i), at: beam.EventTime(random.IntN(1000) - 500)}
		want = append(want, l)
		if err := f.ProcessElement(l.at, l.key, l.row, emit); err != nil {
			t.Fatal(err)
		}
	}
	f.FinishBundle(emit)
	if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(letter{})); diff != "" {
		t.Errorf("%v, alone %v (-want +got):\n%s", rows, alone, diff)
	}
	if counted != int64(len(want)) {
		t.Errorf("%v, alone %v: packs of %d rows, want %d", rows, alone, counted, len(want))
	}
	if alone && packs != len(want) || !alone && (packs < 2 || packs > 10) {
		t.Errorf("%v, alone %v: %d packs", rows, alone, packs)
	}
}

// TestPlain: other values than plain ones are left to Beam.
func TestPlain(t *testing.T) {
	type list struct{ Next *list }
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[plainRow]():               true,
		reflect.TypeFor[benchmarkRow]():           true,
		reflect.TypeFor[string]():                 true,
		reflect.TypeFor[benchmarkMap]():           false,
		reflect.TypeFor[*plainRow]():              false,
		reflect.TypeFor[list]():                   false,
		reflect.TypeFor[**int]():                  false,
		reflect.TypeFor[complex64]():              false,
		reflect.TypeFor[[]byte]():                 false,
		reflect.TypeFor[struct{ x int }]():        false,
		reflect.TypeFor[struct{ At time.Time }](): false,
	} {
		if isPlain(typ) != want {
			t.Errorf("isPlain(%v) = %v", typ, !want)
		}
	}
}

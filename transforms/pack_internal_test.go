package transforms

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	gocmp "github.com/google/go-cmp/cmp"
)

func init() { beam.RegisterType(reflect.TypeFor[benchmarkRow]()) }

// TestPack: the rows of packs are the rows that were packed, with their keys and times, in order. No
// row is earlier than its pack. Rows outside the global window are alone in their packs.
func TestPack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var want []letter
	for i := range 3000 {
		row := benchmarkRow{Color: strings.Repeat("red", random.IntN(100))}
		if random.IntN(2) == 0 {
			row.Age = new(random.Float64())
		}
		want = append(want, letter{row: row, key: int64(i), at: beam.EventTime(random.IntN(1000) - 500)})
	}
	for _, alone := range []bool{false, true} {
		f := packKeyedFn{packFn{Alone: alone, packing: packing{Types: []beam.EncodedType{
			{T: reflect.TypeFor[int64]()}, {T: reflect.TypeFor[benchmarkRow]()},
		}}}}
		f.Setup()
		var got []letter
		packs := 0
		emit := func(at beam.EventTime, pack []byte) {
			packs++
			var l letter
			var err error
			for r := bytes.NewReader(pack); r.Len() > 0; got = append(got, l) {
				if l, err = f.next(r, l.at); err != nil {
					t.Fatal(err)
				}
				if l.at < at {
					t.Errorf("a row at %v in a pack at %v", l.at, at)
				}
			}
		}
		for _, l := range want {
			if err := f.ProcessElement(l.at, l.key, l.row, emit); err != nil {
				t.Fatal(err)
			}
		}
		f.FinishBundle(emit)
		if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(letter{})); diff != "" {
			t.Errorf("alone %v (-want +got):\n%s", alone, diff)
		}
		if alone && packs != len(want) || !alone && (packs < 2 || packs > 10) {
			t.Errorf("alone %v: %d packs", alone, packs)
		}
	}
}

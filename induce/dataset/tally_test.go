package dataset_test

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
)

func readTally(t *testing.T, b []byte) (map[string]int64, *dataset.TallyReader) {
	t.Helper()
	r, err := dataset.ReadTally(b)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int64)
	for r.Next() {
		got[string(r.Key)] = r.Rows
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return got, r
}

// TestTally deals random rows to parts in random order. The merged parts must have the
// bytes of the whole, and the counts of a map.
func TestTally(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		var whole dataset.Tally
		parts := make([]dataset.Tally, 1+random.IntN(6))
		want := make(map[string]int64)
		for range random.IntN(400) {
			key := strconv.Itoa(random.IntN(1 + 5*int(seed)))
			part := &parts[random.IntN(len(parts))]
			whole.Add([]byte(key))
			part.Add([]byte(key))
			part.Dropped++
			whole.Dropped++
			want[key]++
			if random.IntN(100) == 0 {
				whole.AppendBinary(nil) // rows may follow
			}
		}
		encoded := make([][]byte, len(parts))
		for i, at := range random.Perm(len(parts)) {
			encoded[at] = parts[i].AppendBinary(nil)
		}
		merged, err := dataset.MergeTallies(encoded...)
		if err != nil {
			t.Fatal(err)
		}
		if one := whole.AppendBinary(nil); !bytes.Equal(one, merged) {
			t.Fatalf("seed %d: the parts merge to other bytes than the whole", seed)
		}
		got, r := readTally(t, merged)
		if diff := gocmp.Diff(want, got); diff != "" || r.Dropped != whole.Dropped {
			t.Errorf("seed %d: dropped %d (-want +got):\n%s", seed, r.Dropped, diff)
		}
	}
}

// FuzzTally: any bytes give an error or a tally; merging a tally with itself doubles its
// counts.
func FuzzTally(f *testing.F) {
	var two, one dataset.Tally
	two.Add([]byte("a"))
	two.Add([]byte("a"))
	two.Add(nil)
	one.Add([]byte("b"))
	one.Dropped = 3
	for _, t := range []*dataset.Tally{{}, &two, &one} {
		b := t.AppendBinary(nil)
		f.Add(b)
		for at := range b {
			f.Add(b[:at])
			spoilt := bytes.Clone(b)
			spoilt[at] ^= 0xff
			f.Add(spoilt)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := dataset.ReadTally(b)
		if err != nil {
			return
		}
		once := make(map[string]int64)
		for r.Next() {
			once[string(r.Key)] = 2 * r.Rows
		}
		twice, err := dataset.MergeTallies(b, b)
		if r.Err() != nil {
			if err == nil {
				t.Fatal("merged what cannot be read")
			}
			return
		}
		if err != nil {
			return // the doubled rows would overflow
		}
		got, _ := readTally(t, twice)
		if diff := gocmp.Diff(once, got); diff != "" {
			t.Fatalf("merged with itself (-want +got):\n%s", diff)
		}
	})
}

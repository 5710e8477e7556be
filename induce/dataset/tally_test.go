package dataset_test

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
)

type tallied struct{ Weight, Rows int64 }

func readTally(t *testing.T, b []byte) (map[string]tallied, *dataset.TallyReader) {
	t.Helper()
	r, err := dataset.ReadTally(b)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]tallied)
	for r.Next() {
		got[string(r.Key)] = tallied{r.Weight, r.Rows}
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
		want := make(map[string]tallied)
		scaled := seed%3 == 2
		for range random.IntN(400) {
			key := strconv.Itoa(random.IntN(90))
			units, isWhole := int64(dataset.TallyScale), true
			switch seed % 3 {
			case 1:
				units *= 1 + random.Int64N(5)
			case 2:
				units = 1 + random.Int64N(3e6)
				isWhole = units%dataset.TallyScale == 0
			}
			part := &parts[random.IntN(len(parts))]
			whole.Add([]byte(key), units, isWhole)
			part.Add([]byte(key), units, isWhole)
			part.Dropped++
			whole.Dropped++
			w := want[key]
			want[key] = tallied{w.Weight + units, w.Rows + 1}
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
		if !r.Scaled {
			for key, w := range want {
				want[key] = tallied{w.Weight / dataset.TallyScale, w.Rows}
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" || r.Dropped != whole.Dropped || r.Scaled && !scaled {
			t.Errorf("seed %d: dropped %d, scaled %t (-want +got):\n%s", seed, r.Dropped, r.Scaled, diff)
		}
	}
}

// FuzzTally: any bytes give an error or a tally; merging a tally with itself doubles its
// counts.
func FuzzTally(f *testing.F) {
	var whole, scaled dataset.Tally
	whole.Add([]byte("a"), 2*dataset.TallyScale, true)
	whole.Add(nil, dataset.TallyScale, true)
	scaled.Add([]byte("b"), 1, false)
	scaled.Dropped = 3
	for _, t := range []*dataset.Tally{{}, &whole, &scaled} {
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
		once := make(map[string]tallied)
		for r.Next() {
			once[string(r.Key)] = tallied{2 * r.Weight, 2 * r.Rows}
		}
		twice, err := dataset.MergeTallies(b, b)
		if r.Err() != nil {
			if err == nil {
				t.Fatal("merged what cannot be read")
			}
			return
		}
		if err != nil {
			return // the doubled weight would overflow
		}
		got, _ := readTally(t, twice)
		if diff := gocmp.Diff(once, got); diff != "" {
			t.Fatalf("merged with itself (-want +got):\n%s", diff)
		}
	})
}

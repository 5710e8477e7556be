package jobs

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/espalier-ml/espalier/induce/tree"
)

// mergeCountsFn adds up the encoded leaf counts of each key and writes the sum to a file.
type mergeCountsFn struct {
	Out     string
	Run     RunName
	Numbers int64 // key whose values are not leaf counts but lists of numbers; 0: none
}

func (f *mergeCountsFn) ProcessElement(ctx context.Context, key int64, values func(*[]byte) bool) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	merge := tree.MergeLeafCounts
	if f.Numbers != 0 && key == f.Numbers {
		merge = mergeNumbers
	}
	b, err := merge(Collect(values))
	if err != nil {
		return err
	}
	s, err := OpenStorage(ctx)
	if err != nil {
		return err
	}
	return s.Write(ctx, countsURL(f.Out, key), b)
}

// mergeNumbers adds up lists of equally many varints, number by number.
func mergeNumbers(list [][]byte) ([]byte, error) {
	var sums []int64
	for i, b := range list {
		n := 0
		for ; len(b) > 0; n++ {
			x, k := binary.Varint(b)
			if k <= 0 || i > 0 && n >= len(sums) {
				return nil, ErrValue
			}
			b = b[k:]
			if i == 0 {
				sums = append(sums, x)
			} else {
				sums[n] += x
			}
		}
		if n != len(sums) {
			return nil, ErrValue
		}
	}
	var b []byte
	for _, x := range sums {
		b = binary.AppendVarint(b, x)
	}
	return b, nil
}

func countsURL(out string, key int64) string { return fmt.Sprintf("%s/counts-%06d", out, key) }

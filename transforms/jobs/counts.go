package jobs

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/tree"
)

// mergeCountsFn adds up the encoded counts of each key and writes the sum to a file.
type mergeCountsFn struct {
	Out string
	Run RunName
}

func (f *mergeCountsFn) ProcessElement(ctx context.Context, key int64, values func(*[]byte) bool) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	b, err := tree.MergeLeafCounts(Collect(values))
	if err != nil {
		return err
	}
	s, err := OpenStorage(ctx)
	if err != nil {
		return err
	}
	return s.Write(ctx, countsURL(f.Out, key), b)
}

func countsURL(out string, key int64) string { return fmt.Sprintf("%s/counts-%06d", out, key) }

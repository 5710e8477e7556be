package jobs

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/tree"
)

// Trees are the trees by which a job scores rows.
type Trees struct {
	URLs     []string       // URLs of the tree.json files
	Decision *tree.Decision // decision rule of the first tree; nil: its own
	Decoded  []*tree.Tree   `json:"-"` // the same trees; nil in other processes, which read the URLs
}

// read returns the trees.
func (t *Trees) read(ctx context.Context) ([]*tree.Tree, error) {
	if t.Decoded != nil {
		return t.Decoded, nil
	}
	trees := make([]*tree.Tree, len(t.URLs))
	err := readEach(ctx, t.URLs, func(i int, b []byte) error {
		if b == nil {
			return fmt.Errorf("the tree %s is gone", t.URLs[i])
		}
		var err error
		trees[i], err = tree.Decode(b)
		return err
	})
	if err == nil && t.Decision != nil {
		trees[0] = trees[0].WithDecision(t.Decision)
	}
	return trees, err
}

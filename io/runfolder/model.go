package runfolder

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// MaxModel is the most bytes of a document that is read.
const MaxModel = 1 << 30

// ReadTree reads the tree of a model: of a run folder or a tree.json. Errors are usage
// errors, or a *dataset.DataError where the file is no tree.
func ReadTree(ctx context.Context, s *objectstore.Store, model string) (*tree.Tree, error) {
	url := tree.URLOf(model)
	b, err := s.ReadAll(ctx, url, MaxModel)
	if err != nil {
		return nil, usage.Errorf("--model %s: %v; name a run folder or a tree.json", model, err)
	}
	t, err := decodeTree(b)
	if err != nil {
		return nil, unreadable(url, err)
	}
	return t, nil
}

// decodeTree decodes a tree.json. The error is a *dataset.DataError without the file.
func decodeTree(b []byte) (*tree.Tree, error) {
	t, err := tree.Decode(b)
	if err != nil {
		return nil, &dataset.DataError{
			Problem: fmt.Sprintf("not a tree that can be used: %v", err),
			Hint:    "name a run folder or a tree.json",
		}
	}
	return t, nil
}

package runfolder

import (
	"context"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// MaxModel bounds a tree.json that is read.
const MaxModel = 1 << 30

// TreeURL returns the URL of the tree.json that a model's name stands for.
func TreeURL(model string) string {
	if strings.HasSuffix(model, ".json") {
		return model
	}
	return objectstore.Join(model, TreeName)
}

// ReadTree reads the tree of a run folder or of a tree.json.
func ReadTree(ctx context.Context, s *objectstore.Store, model string) (*tree.Tree, error) {
	url := TreeURL(model)
	b, err := s.ReadAll(ctx, url, MaxModel)
	if err != nil {
		return nil, usage.Errorf("--model %s: %v; name a run folder or a tree.json", model, err)
	}
	t, err := tree.Decode(b)
	if err != nil {
		return nil, &dataset.DataError{File: url, Problem: fmt.Sprintf("not a tree that can be used: %v", err), Hint: "name a run folder or a tree.json"}
	}
	return t, nil
}

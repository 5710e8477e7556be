package pipelines

import (
	"context"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// maxModel bounds a tree.json that is read.
const maxModel = 1 << 30

// treeURL returns the URL of the tree.json that a model's name stands for.
func treeURL(model string) string {
	if strings.HasSuffix(model, ".json") {
		return model
	}
	return objectstore.Join(model, treeFile)
}

func readTree(ctx context.Context, s *objectstore.Store, model string) (*tree.Tree, error) {
	url := treeURL(model)
	b, err := s.ReadAll(ctx, url, maxModel)
	if err != nil {
		return nil, usage.Errorf("--model %s: %v; name a run folder or a tree.json", model, err)
	}
	t, err := tree.Decode(b)
	if err != nil {
		return nil, &dataset.DataError{File: url, Problem: fmt.Sprintf("not a tree that can be used: %v", err), Hint: "name a run folder or a tree.json"}
	}
	return t, nil
}

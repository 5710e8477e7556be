package runfolder

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// MaxModel is the greatest size of a document that is read.
const MaxModel = 1 << 30

// ReadTree reads the tree of a model, given a run folder, a tree.json or a LATEST.json. Errors are
// usage errors, also if the file is not a tree: another attempt reads the same file.
func ReadTree(ctx context.Context, s *objectstore.Store, model string) (*tree.Tree, error) {
	t, _, err := ReadModel(ctx, s, model)
	return t, err
}

// FindRun returns the folder and the manifest.json of a finished run, given its folder or a LATEST.json. Errors are
// usage errors.
func FindRun(ctx context.Context, s *objectstore.Store, run string) (folder string, m *Manifest, err error) {
	if folder, err = latest.Resolve(ctx, s, run); err != nil {
		return "", nil, err
	}
	m, err = ReadManifest(ctx, s, folder)
	return folder, m, err
}

// ReadPoint reads the tree of a point of a run's frontier. Errors are as for ReadTree.
func ReadPoint(ctx context.Context, s *objectstore.Store, run string, p *Point) (*tree.Tree, error) {
	url, err := s.Within(run, p.Tree)
	if err != nil {
		return nil, usage.Errorf("%s: %v", FrontierName, err)
	}
	return ReadTree(ctx, s, url)
}

// ReadModel is ReadTree, and also returns the URL of the tree.json. A LATEST.json may soon name
// another URL.
func ReadModel(ctx context.Context, s *objectstore.Store, model string) (t *tree.Tree, url string, err error) {
	b, url, err := latest.Tree(ctx, s, model)
	if err != nil {
		return nil, "", usage.Errorf("%v", err)
	}
	if t, err = decodeTree(b); err != nil {
		return nil, "", usage.Errorf("%s: %v", url, err)
	}
	return t, url, nil
}

// decodeTree decodes a tree.json. The error does not name the file.
func decodeTree(b []byte) (*tree.Tree, error) {
	t, err := tree.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("not a tree that can be used: %w; name a run folder or a tree.json", err)
	}
	return t, nil
}

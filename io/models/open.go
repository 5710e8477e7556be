package models

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// MaxBytes is the greatest size of a document that is read.
const MaxBytes = 1 << 30

// Model is an opened tree.
type Model struct {
	URL  string // URL of the tree.json
	ID   string // see tree.ID
	Tree *tree.Tree

	// Columns are the names of all columns of the training rows, used or not; nil if there is no
	// schema.json next to the tree.
	Columns []string
}

// Open reads a model: a run folder, a tree.json or the LATEST.json of retrain, at a plain path, a file:// or a mem://
// URL. The context bounds the reading.
func Open(ctx context.Context, url string) (*Model, error) {
	return From(ctx, objectstore.Open(objectstore.Patience{}), url)
}

// From is Open for the URLs of a store.
func From(ctx context.Context, s *objectstore.Store, url string) (*Model, error) {
	b, at, err := latest.Tree(ctx, s, url)
	if err != nil {
		return nil, fmt.Errorf("the model %w", err)
	}
	t, err := tree.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("the model %s: %s: not a tree that can be used: %w", url, at, err)
	}
	m := &Model{URL: at, ID: tree.ID(b), Tree: t}
	return m, m.readSchema(ctx, s)
}

// readSchema adds the columns from the schema.json next to the tree.
func (m *Model) readSchema(ctx context.Context, s *objectstore.Store) error {
	folder, is := strings.CutSuffix(m.URL, "/tree.json")
	if !is {
		return nil
	}
	at := folder + "/schema.json"
	b, err := s.ReadAll(ctx, at, MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var schema *tree.Schema
	if err == nil {
		schema, err = tree.DecodeSchema(b)
	}
	if err != nil {
		return fmt.Errorf("the model %s: %s: %w", m.URL, at, err)
	}
	for i := range schema.Columns {
		m.Columns = append(m.Columns, schema.Columns[i].Name)
	}
	return nil
}

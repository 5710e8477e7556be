package models_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/models"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// golden reads a file of package tree's tests.
func golden(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "induce", "tree", "testdata", "golden", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// put writes an object.
func put(tb testing.TB, s *objectstore.Store, url string, b []byte) {
	tb.Helper()
	if err := s.Put(tb.Context(), url, b, objectstore.WriteOptions{}); err != nil {
		tb.Fatal(err)
	}
}

// TestOpen: a model is found by its folder or by its file, with the columns of the schema.
func TestOpen(t *testing.T) {
	s, dir := objectstore.New(), t.TempDir()
	small, schema := golden(t, "small.json"), golden(t, "schema.json")
	put(t, s, dir+"/run/tree.json", small)
	put(t, s, dir+"/run/schema.json", schema)
	put(t, s, dir+"/alone.json", small)
	put(t, s, dir+"/broken/tree.json", small[:100])
	put(t, s, dir+"/half/tree.json", small)
	for folder, digest := range map[string]string{"/good": tree.Digest(small), "/bad": tree.Digest(schema)} {
		put(t, s, dir+folder+"/LATEST.json",
			[]byte(`{"format": "espalier/latest", "version": 1, "run": "run", "tree_sha256": "`+digest+`"}`))
		put(t, s, dir+folder+"/run/tree.json", small)
	}
	put(t, s, dir+"/half/schema.json", schema[:100])
	decoded, err := tree.DecodeSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for i := range decoded.Columns {
		columns = append(columns, decoded.Columns[i].Name)
	}
	for url, want := range map[string][]string{
		dir + "/run": columns, dir + "/run/": columns, "file://" + dir + "/run/tree.json": columns, dir + "/alone.json": nil,
		dir + "/good/LATEST.json": nil,
	} {
		m, err := models.Open(t.Context(), url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if !slices.Equal(m.Columns, want) || m.ID != tree.ID(small) || string(m.Tree.Encode()) != string(small) {
			t.Errorf("%s: model %s with columns %q, want %s with %q", url, m.ID, m.Columns, tree.ID(small), want)
		}
	}
	for url, want := range map[string]string{
		dir + "/none":            "/none/tree.json: no such file or directory; name a run folder, a tree.json or a LATEST.json",
		dir + "/broken":          "/broken/tree.json: not a tree that can be used",
		dir + "/half":            "/half/schema.json: not a schema.json",
		dir + "/bad/LATEST.json": "is not the tree that LATEST.json names",
		"gs://b/x":               `unknown scheme "gs"`,
	} {
		if _, err := models.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
	if _, err := models.Open(t.Context(), dir+"/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error of an absent model does not tell its cause: %v", err)
	}
}

// TestLive: a changed model replaces the one before, a broken or refused one does not.
func TestLive(t *testing.T) {
	s, url := objectstore.New(), "mem://live/tree.json"
	refuse := errors.New("no tree for us")
	leaves := func(m *models.Model) (int, error) {
		if n := m.Tree.CountLeaves(); n < 100 {
			return n, nil
		}
		return 0, refuse
	}
	if _, err := models.NewLive(t.Context(), s, url, leaves); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a model: %v", err)
	}
	small, both := golden(t, "small.json"), golden(t, "both.json")
	put(t, s, url, small)
	live, err := models.NewLive(t.Context(), s, url, leaves)
	if err != nil {
		t.Fatal(err)
	}
	current := func(want []byte) {
		t.Helper()
		m, n := live.Current()
		if m.ID != tree.ID(want) || n != m.Tree.CountLeaves() {
			t.Errorf("model %s with %d leaves, want %s", m.ID, n, tree.ID(want))
		}
	}
	current(small)
	for _, step := range []struct {
		put     []byte
		changed bool
		want    []byte
	}{{small, false, small}, {both, true, both}, {both[:200], false, both}, {small, true, small}} {
		put(t, s, url, step.put)
		changed, err := live.Reload(t.Context())
		if changed != step.changed || err == nil != (len(step.put) > 200) {
			t.Errorf("reloaded: changed %v, error %v", changed, err)
		}
		current(step.want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan error)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		live.Follow(ctx, time.Millisecond, func(err error) { told <- err })
	}()
	put(t, s, url, both)
	if err := <-told; err != nil {
		t.Errorf("a new model: %v", err)
	}
	current(both)
	put(t, s, url, []byte("{"))
	if err := <-told; err == nil {
		t.Error("a broken model: no error")
	}
	put(t, s, url, both)
	cancel()
	for open := true; open; {
		select {
		case err := <-told:
			if err == nil {
				continue // the good model, if it was read before the end
			}
		case <-ended:
			open = false
		}
	}
	current(both)
}

package runfolder_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// dying is a driver of a store in memory, without folders, whose process is killed: from some change on, all fail.
type dying struct {
	store *objectstore.Store
	left  atomic.Int64 // changes before that
}

const (
	alive     = 1 << 40
	dyingRoot = "dying://"
	rootOf    = "mem://dying/"
)

var errKilled = errors.New("killed")

func (d *dying) change() error {
	if d.left.Add(-1) < 0 {
		return errKilled
	}
	return nil
}

func below(o objectstore.Object) objectstore.Object {
	o.URL = strings.TrimPrefix(o.URL, rootOf)
	return o
}

func (d *dying) List(ctx context.Context, folder string, depth int) ([]objectstore.Object, error) {
	list, err := d.store.Below(ctx, rootOf+folder, depth)
	for i := range list {
		list[i] = below(list[i])
	}
	return list, err
}

func (d *dying) Stat(ctx context.Context, path string) (objectstore.Object, error) {
	o, err := d.store.Stat(ctx, rootOf+path)
	return below(o), err
}

func (d *dying) Open(ctx context.Context, o objectstore.Object) (objectstore.Reader, error) {
	o.URL = rootOf + o.URL
	return d.store.OpenObject(ctx, o)
}

func (d *dying) Create(ctx context.Context, path string, o objectstore.WriteOptions) (objectstore.Writer, error) {
	if err := d.change(); err != nil { // it changes nothing, but an outage may begin here
		return nil, err
	}
	w, err := d.store.Create(ctx, rootOf+path, o)
	return dyingWriter{w, d}, err
}

func (d *dying) Remove(ctx context.Context, path string) error {
	if err := d.change(); err != nil {
		return err
	}
	return d.store.Remove(ctx, rootOf+path)
}

func (d *dying) RemoveAll(ctx context.Context, path string) error {
	list, err := d.List(ctx, path, -1)
	slices.Reverse(list) // _SUCCESS last
	for _, o := range list {
		if err == nil {
			err = d.Remove(ctx, o.URL)
		}
	}
	return err
}

type dyingWriter struct {
	objectstore.Writer

	driver *dying
}

func (w dyingWriter) Commit() error {
	if err := w.driver.change(); err != nil {
		return err
	}
	return w.Writer.Commit()
}

// replacement writes a run into a folder of predictions: the content of its rows is its ID.
type replacement struct {
	id     string
	rows   []string
	scored bool // whether it has figures
}

func (r *replacement) write(t *testing.T, s *objectstore.Store, url string) (f *runfolder.Folder, err error) {
	t.Helper()
	f, err = runfolder.Open(t.Context(), s, url, runfolder.Predictions, true, r.rows...)
	if err == nil {
		err = f.Settle(t.Context())
	}
	if err == nil {
		err = f.Begin(t.Context(), r.id, time.Unix(0, 0), r.rows)
	}
	if err != nil {
		return f, err
	}
	for _, name := range r.rows {
		if err := s.Put(t.Context(), f.RowFile(name), []byte(r.id), objectstore.WriteOptions{}); err != nil {
			return f, err
		}
	}
	run := &runfolder.Run{Rows: r.rows, Predictions: &runfolder.PredictionsManifest{
		Format: runfolder.PredictionsFormat, Version: 1, Outputs: r.rows, Tree: r.id,
	}}
	if r.scored {
		run.Metrics = &runfolder.Metrics{Format: runfolder.MetricsFormat, Version: 1, Test: &metric.Metrics{}}
	}
	_, err = f.Write(t.Context(), run)
	return f, err
}

// replaced are two runs.
type replaced struct {
	earlier, later replacement
	inPlace        bool // whether _SUCCESS is always there
}

// TestSettle kills runs that replace finished files at each change, or lets them fail there. With _SUCCESS, the rows are of
// one run, all of them; the next run ends what the killed one has staged, and nothing stays but the files of one run.
func TestSettle(t *testing.T) {
	before, after := strings.Repeat("b", 26), strings.Repeat("c", 26)
	for name, c := range map[string]replaced{
		"one file":       {replacement{before, []string{"a.parquet"}, true}, replacement{after, []string{"a.parquet"}, true}, true},
		"other document": {replacement{before, []string{"a.parquet"}, false}, replacement{after, []string{"a.parquet"}, true}, false},
		"other name":     {replacement{before, []string{"a.parquet"}, true}, replacement{after, []string{"b.parquet"}, true}, false},
		"many files":     {replacement{before, runfolder.PartNames(40), true}, replacement{after, runfolder.PartNames(40), true}, false},
		"several files": {
			replacement{before, []string{"a.parquet", "day=1/b.parquet", "gone.parquet"}, true},
			replacement{after, []string{"a.parquet", "day=1/b.parquet", "new.parquet"}, false},
			false,
		},
	} {
		unfinished := 0
		for killed := int64(0); ; killed++ {
			s := objectstore.New()
			d := &dying{store: objectstore.New()}
			d.left.Store(alive)
			s.Register("dying", d)
			url := fmt.Sprintf("%s%s-%d", dyingRoot, strings.ReplaceAll(name, " ", "-"), killed)
			if _, err := c.earlier.write(t, s, url); err != nil {
				t.Fatal(err)
			}
			d.left.Store(killed)
			failed, err := c.later.write(t, s, url)
			if err != nil && !strings.Contains(err.Error(), errKilled.Error()) {
				t.Fatal(err)
			}
			if err != nil && killed%2 == 0 { // not killed: an outage of the store, and a second one that lets few changes pass
				d.left.Store(killed / 2 % 4)
				failed.Undo(t.Context(), nil)
			}
			d.left.Store(alive)
			if isThere(t, s, url+"/_SUCCESS") {
				c.wants(t, s, url, killed)
			} else {
				unfinished++
			}
			f, openErr := runfolder.Open(t.Context(), s, url, runfolder.Predictions, true, c.later.rows...)
			if openErr != nil {
				t.Fatal(openErr)
			}
			if err := f.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			tree := c.wants(t, s, url, killed)
			if staged, err := s.Below(t.Context(), url+"/_staged", -1); err != nil || len(staged) > 0 {
				t.Errorf("%s, killed at change %d: %v stays, %v", name, killed, staged, err)
			}
			if m, err := f.Published(t.Context()); err != nil || m == nil || m.Tree != tree {
				t.Errorf("%s, killed at change %d: after the next run %v, %v", name, killed, m, err)
			}
			if err == nil { // it was not killed
				break
			}
		}
		if (unfinished == 0) != c.inPlace {
			t.Errorf("%s: %d kills left no _SUCCESS", name, unfinished)
		}
	}
}

// wants wants the rows of one run, and returns its ID.
func (c *replaced) wants(t *testing.T, s *objectstore.Store, url string, killed int64) string {
	t.Helper()
	rows := rowsIn(t, s, url)
	of := c.earlier
	if rows[c.later.rows[0]] == c.later.id {
		of = c.later
	}
	if !maps.Equal(rows, of.files()) {
		t.Errorf("%s, killed at change %d: %v", url, killed, rows)
	}
	return of.id
}

// files returns the content of the files of rows.
func (r replacement) files() map[string]string {
	files := make(map[string]string)
	for _, name := range r.rows {
		files[name] = r.id
	}
	return files
}

// rowsIn returns the content of all files that are no documents.
func rowsIn(t *testing.T, s *objectstore.Store, url string) map[string]string {
	t.Helper()
	list, err := s.Below(t.Context(), url, -1)
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for _, o := range list {
		name := strings.TrimPrefix(o.URL, url+"/")
		if slices.Contains([]string{"_SUCCESS", "_manifest.json", "_metrics.json"}, name) || strings.HasPrefix(name, "_staged/") {
			continue
		}
		b, err := s.ReadAll(t.Context(), o.URL, 100)
		if err != nil {
			t.Fatal(err)
		}
		rows[name] = string(b)
	}
	return rows
}

// TestSettleDamaged: staged files that no run can have left in this way are removed, and nothing else changes.
func TestSettleDamaged(t *testing.T) {
	run := strings.Repeat("d", 26)
	for name, manifest := range map[string]string{
		"no JSON": "{", "another format": `{"format": "mine"}`, "outside": `{"format": "espalier/predictions", "files": ["../x.parquet"]}`,
		"itself": `{"format": "espalier/predictions", "files": ["_manifest.json"]}`,
		"lock":   `{"format": "espalier/predictions", "files": ["_LOCK"]}`,
		"absent": `{"format": "espalier/predictions", "files": ["a.parquet", "new.parquet"]}`,
	} {
		s := objectstore.New()
		url := folderOf(t, s, map[string]string{
			"a.parquet": "a", "_SUCCESS": "", "_manifest.json": `{"format": "espalier/predictions", "version": 1, "files": ["a.parquet"]}`,
			"_staged/" + run + "/_SUCCESS": "", "_staged/" + run + "/_manifest.json": manifest, "_staged/" + run + "/a.parquet": "b",
			"_staged/notes.txt": "mine",
		})
		f, err := runfolder.Open(t.Context(), s, url, runfolder.Predictions, true)
		if err == nil {
			err = f.Settle(t.Context())
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		list, err := s.Below(t.Context(), url, -1)
		if err != nil || len(list) != 4 || !maps.Equal(rowsIn(t, s, url), map[string]string{"a.parquet": "a"}) {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

// TestSettleByTime: staged files of a whole run take the place of the files of a run that began before, and of no other.
func TestSettleByTime(t *testing.T) {
	manifest := func(day int) string {
		return fmt.Sprintf(`{"format": "espalier/predictions", "version": 1, "started": "2026-01-%02dT00:00:00Z", "files": ["a.parquet"]}`, day)
	}
	staged := func(id string) string { return "_staged/" + strings.Repeat(id, 26) + "/" }
	for name, c := range map[string]struct {
		days map[string]int // when staged runs began
		want string
	}{
		"later":         {map[string]int{"d": 6}, "d"},
		"earlier":       {map[string]int{"d": 4}, "a"},
		"both":          {map[string]int{"d": 6, "e": 4}, "d"},
		"two later":     {map[string]int{"d": 7, "e": 6}, "d"},
		"two, in order": {map[string]int{"d": 6, "e": 7}, "e"},
	} {
		files := map[string]string{"a.parquet": "a", "_SUCCESS": "", "_manifest.json": manifest(5)}
		for id, day := range c.days {
			files[staged(id)+"_SUCCESS"] = ""
			files[staged(id)+"_manifest.json"] = manifest(day)
			files[staged(id)+"a.parquet"] = id
		}
		s := objectstore.New()
		url := folderOf(t, s, files)
		f, err := runfolder.Open(t.Context(), s, url, runfolder.Predictions, true)
		if err == nil {
			err = f.Settle(t.Context())
		}
		list, below := s.Below(t.Context(), url, -1)
		if err != nil || below != nil || len(list) != 3 || !maps.Equal(rowsIn(t, s, url), map[string]string{"a.parquet": c.want}) {
			t.Errorf("%s: rows %v, %d files, %v, %v", name, rowsIn(t, s, url), len(list), err, below)
		}
	}
}

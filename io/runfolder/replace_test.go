package runfolder_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// written writes a run of training to a new folder in memory, and opens it to replace documents.
func written(t *testing.T) (*objectstore.Store, string, *runfolder.Folder, *runfolder.Run) {
	t.Helper()
	s, url := objectstore.New(), folderOf(t, objectstore.New(), nil)
	r := runOf(t, runfolder.Training)
	f, err := runfolder.Open(t.Context(), s, url, runfolder.Training, false)
	if err == nil {
		_, err = f.Write(t.Context(), r)
	}
	if err == nil {
		f, err = runfolder.Open(t.Context(), s, url, runfolder.Training, true)
	}
	if err == nil {
		r.Manifest, err = runfolder.ReadManifest(t.Context(), s, url)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, url, f, r
}

func read(t *testing.T, s *objectstore.Store, url, name string) string {
	t.Helper()
	b, err := s.ReadAll(t.Context(), objectstore.Join(url, name), runfolder.MaxModel)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReplace: the named documents are replaced, a file is added and listed, all other files stay,
// and a later run may replace them all.
func TestReplace(t *testing.T) {
	s, url, f, r := written(t)
	schema, first := read(t, s, url, "schema.json"), read(t, s, url, "frontier/000.json")
	if err := f.CanReplace(r.Manifest); err != nil {
		t.Error(err)
	}
	r.Frontier.Points[0].Merit = 0.625
	added := runfolder.File{Name: runfolder.FrontierTree(2), Content: r.Tree.Encode()}
	if err := f.Replace(t.Context(), r, []string{runfolder.FrontierName}, added); err != nil {
		t.Fatal(err)
	}
	if read(t, s, url, "schema.json") != schema || read(t, s, url, "frontier/000.json") != first {
		t.Error("a file that stays has changed")
	}
	there, err := runfolder.Read(t.Context(), s, url, runfolder.Training)
	if err != nil || there.Frontier.Points[0].Merit != 0.625 || len(there.Trees) != 3 {
		t.Errorf("read %+v, %v", there, err)
	}
	if !slices.Contains(there.Manifest.Files, added.Name) || !isThere(t, s, objectstore.Join(url, runfolder.SuccessName)) {
		t.Errorf("the manifest lists %q", there.Manifest.Files)
	}
	if _, err := runfolder.Open(t.Context(), s, url, runfolder.Training, true); err != nil {
		t.Error(err)
	}
}

// TestReplaceInterrupted: after the end of the context nothing has changed.
func TestReplaceInterrupted(t *testing.T) {
	s, url, f, r := written(t)
	before := read(t, s, url, "manifest.json")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Replace(ctx, r, []string{runfolder.TreeName}); err == nil {
		t.Error("it went on after the end of the context")
	}
	if read(t, s, url, "manifest.json") != before || !isThere(t, s, objectstore.Join(url, runfolder.SuccessName)) {
		t.Error("the folder has changed")
	}
}

// TestReplaceOvertaken: a document that another program has written meanwhile stays, and the
// folder is not finished. A promotion in its manifest says that it may be mended.
func TestReplaceOvertaken(t *testing.T) {
	s, url, f, r := written(t)
	put(t, s, objectstore.Join(url, runfolder.TreeName), "mine")
	r.Manifest.Promotions = append(r.Manifest.Promotions, runfolder.Promotion{Tree: runfolder.FrontierTree(1), By: map[string]string{}})
	err := f.Replace(t.Context(), r, []string{runfolder.TreeName})
	wantRefusal(t, "a file that has changed", err, "another run has written tree.json meanwhile")
	if read(t, s, url, runfolder.TreeName) != "mine" || isThere(t, s, objectstore.Join(url, runfolder.SuccessName)) {
		t.Error("the file was overwritten, or the folder looks finished")
	}
	again, err := runfolder.Open(t.Context(), s, url, runfolder.Training, true)
	if err != nil || !again.Finished() {
		t.Fatal(err, again.Finished())
	}
	if read(t, s, url, runfolder.TreeName) != string(r.Tree.Encode()) {
		t.Error("the folder is not mended")
	}
	if err := s.Remove(t.Context(), objectstore.Join(url, runfolder.SuccessName)); err != nil {
		t.Fatal(err)
	}
	again, err = runfolder.Open(t.Context(), s, url, runfolder.Training, true)
	if err != nil || again.CanReplace(r.Manifest) != nil {
		t.Error("an earlier version's promotion cannot be mended", err)
	}
	r.Manifest.Promotions = nil
	wantRefusal(t, "an unfinished run", again.CanReplace(r.Manifest), "unfinished run")
}

// dying is memory that nothing reaches any more after a number of changes, as if the process had been killed. The number
// belongs to all writers.
type dying struct {
	memory *objectstore.Store
	left   atomic.Int64
}

var errKilled = errors.New("killed")

func (d *dying) dies() bool { return d.left.Add(-1) < 0 }

func (d *dying) List(ctx context.Context, folder string, depth int) ([]objectstore.Object, error) {
	list, err := d.memory.Below(ctx, "mem://"+folder, depth)
	for i := range list {
		list[i].URL = strings.TrimPrefix(list[i].URL, "mem://")
	}
	return list, err
}

func (d *dying) Stat(ctx context.Context, path string) (objectstore.Object, error) {
	o, err := d.memory.Stat(ctx, "mem://"+path)
	o.URL = path
	return o, err
}

func (d *dying) Open(ctx context.Context, o objectstore.Object) (objectstore.Reader, error) {
	o.URL = "mem://" + o.URL
	return d.memory.OpenObject(ctx, o)
}

func (d *dying) Create(ctx context.Context, path string, o objectstore.WriteOptions) (objectstore.Writer, error) {
	w, err := d.memory.Create(ctx, "mem://"+path, o)
	return dyingWriter{w, d}, err
}

func (d *dying) Remove(ctx context.Context, path string) error {
	if d.dies() {
		return errKilled
	}
	return d.memory.Remove(ctx, "mem://"+path)
}

func (d *dying) RemoveAll(ctx context.Context, prefix string) error {
	return d.memory.RemoveAll(ctx, "mem://"+prefix)
}

type dyingWriter struct {
	objectstore.Writer

	store *dying
}

func (w dyingWriter) Commit() error {
	if w.store.dies() {
		return errKilled
	}
	return w.Writer.Commit()
}

// TestReplaceKilled: whenever a replacement ends, the next one to open the folder finds the finished run of before or of
// after it, and no other file.
func TestReplaceKilled(t *testing.T) {
	for steps := 0; ; steps++ {
		s, url, _, r := written(t)
		before := read(t, s, url, "tree.json")
		broken, killed := objectstore.New(), &dying{memory: s}
		broken.Register("mem", killed)
		f, err := runfolder.Open(t.Context(), broken, url, runfolder.Training, true)
		if err != nil {
			t.Fatal(err)
		}
		killed.left.Store(int64(steps))
		r.Tree.Label.Column = "another"
		added := runfolder.File{Name: runfolder.FrontierTree(2), Content: r.Tree.Encode()}
		err = f.Replace(t.Context(), r, []string{runfolder.TreeName, runfolder.MetricsName}, added)
		again, openErr := runfolder.Open(t.Context(), s, url, runfolder.Training, true)
		if openErr != nil || !again.Finished() {
			t.Fatalf("after %d steps: %v, %v", steps, openErr, again.Finished())
		}
		now, m := read(t, s, url, "tree.json"), read(t, s, url, "manifest.json")
		whole := now == string(r.Tree.Encode()) && strings.Contains(m, added.Name) && isThere(t, s, objectstore.Join(url, added.Name))
		if !whole && (now != before || steps > 0) || isThere(t, s, objectstore.Join(url, "_REPLACEMENT")) {
			t.Errorf("after %d steps the folder has half a replacement", steps)
		}
		if err == nil {
			if steps < 7 {
				t.Errorf("%d steps, want one for each of 4 documents and 3 marks", steps)
			}
			return
		}
	}
}

// TestGrownDamaged: a file of grown trees that is cut short or changed is refused.
func TestGrownDamaged(t *testing.T) {
	s, url, _, _ := written(t)
	whole := read(t, s, url, runfolder.GrownName)
	for n := range whole {
		for _, damaged := range []string{whole[:n], whole[:n] + string(whole[n]^1) + whole[n+1:]} {
			put(t, s, objectstore.Join(url, runfolder.GrownName), damaged)
			r, err := runfolder.Read(t.Context(), s, url, runfolder.Training, runfolder.GrownName)
			if err == nil && n >= len(whole)-21 { // the sections: 2 + 1 + 2 + 16 bytes
				t.Errorf("byte %d of %d: taken as %+v", n, len(whole), r.Grown)
			}
		}
	}
}

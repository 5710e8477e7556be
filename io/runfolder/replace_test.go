package runfolder_test

import (
	"context"
	"slices"
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

// TestReplace: the named documents are replaced, a file is added and listed, all others stay,
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
	r.Manifest.Promotions = append(r.Manifest.Promotions, runfolder.Promotion{Tree: runfolder.FrontierTree(1)})
	err := f.Replace(t.Context(), r, []string{runfolder.TreeName})
	wantRefusal(t, "a file that has changed", err, "another run has written tree.json meanwhile")
	if read(t, s, url, runfolder.TreeName) != "mine" || isThere(t, s, objectstore.Join(url, runfolder.SuccessName)) {
		t.Error("the file was overwritten, or the folder looks finished")
	}
	again, err := runfolder.Open(t.Context(), s, url, runfolder.Training, true)
	if err != nil {
		t.Fatal(err)
	}
	m, err := runfolder.ReadManifest(t.Context(), s, url)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.CanReplace(m); err != nil {
		t.Error(err)
	}
	m.Promotions = nil
	wantRefusal(t, "an unfinished run", again.CanReplace(m), "unfinished run")
	if err := again.Replace(t.Context(), r, []string{runfolder.TreeName}); err != nil {
		t.Fatal(err)
	}
	if read(t, s, url, runfolder.TreeName) != string(r.Tree.Encode()) {
		t.Error("the folder is not mended")
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

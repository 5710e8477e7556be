package runfolder_test

import (
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// written writes a run of training to a new folder in memory, and opens it to add a document.
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

// TestAdd: a document is added and listed, and then replaced; all other files stay, and the run stays finished.
func TestAdd(t *testing.T) {
	s, url, f, r := written(t)
	schema := read(t, s, url, "schema.json")
	for _, content := range []string{"first", "second"} {
		f, err := runfolder.Open(t.Context(), s, url, runfolder.Training, true)
		if err == nil {
			err = f.Add(t.Context(), r.Manifest, runfolder.CardName, []byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
		there, err := runfolder.ReadFinished(t.Context(), s, url)
		if err != nil || !slices.Contains(there.Files, runfolder.CardName) {
			t.Errorf("the manifest lists %q, %v", there.Files, err)
		}
		if read(t, s, url, runfolder.CardName) != content || read(t, s, url, "schema.json") != schema {
			t.Errorf("%s: another document", content)
		}
	}
	wantRefusal(t, "a file that has changed", f.Add(t.Context(), r.Manifest, runfolder.CardName, nil),
		"another run has written model_card.md meanwhile")
}

// TestAddKilled: a document that the manifest lists, and that is not there because its writer was killed, may be added.
// Without _SUCCESS a run is not finished.
func TestAddKilled(t *testing.T) {
	s, url, f, r := written(t)
	if err := f.Add(t.Context(), r.Manifest, runfolder.CardName, []byte("card")); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), objectstore.Join(url, runfolder.CardName)); err != nil {
		t.Fatal(err)
	}
	f, err := runfolder.Open(t.Context(), s, url, runfolder.Training, true)
	if err != nil || f.Has(runfolder.CardName) || !f.Has(runfolder.TreeName) {
		t.Fatal(err)
	}
	if err := f.Add(t.Context(), r.Manifest, runfolder.CardName, []byte("card")); err != nil {
		t.Error(err)
	}
	if _, err := runfolder.Read(t.Context(), s, url, runfolder.Training); err != nil {
		t.Error(err)
	}
	if err := s.Remove(t.Context(), objectstore.Join(url, runfolder.SuccessName)); err != nil {
		t.Fatal(err)
	}
	_, err = runfolder.ReadFinished(t.Context(), s, url)
	wantRefusal(t, "an unfinished run", err, "unfinished run")
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

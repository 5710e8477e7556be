package objectstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// TestWithin: a name of a document stays below its folder, also where links are on the way.
func TestWithin(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, folder := range []string{"run/sub", "outside/deep"} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	outside, err := filepath.Abs("outside")
	if err != nil {
		t.Fatal(err)
	}
	inside, err := filepath.Abs("run/sub")
	if err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"linked": "run", "run/out": "../outside", "run/absolute": outside, "run/nothing": "none", "run/up": "..",
		"run/self": ".", "run/in": "sub", "run/whole": inside, "run/sub/back": "../sub", "run/circle": "circle",
		"run/sub/file": "../../outside/deep",
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	s := objectstore.New()
	for _, folder := range []string{"run", "./run", "linked", "linked/", "file://" + filepath.Dir(inside), "mem://run"} {
		for _, name := range []string{"x", "sub/x", "none/x/y", "in/x", "in/back/x", "whole", "whole/x", "a:b"} {
			if url, err := s.Within(folder, name); err != nil || url != objectstore.Join(folder, name) {
				t.Errorf("%s, %s: got %q, %v", folder, name, url, err)
			}
		}
		for _, name := range []string{"../outside/x", "/x", "sub/../../x", "", "gs://x"} {
			if url, err := s.Within(folder, name); err == nil {
				t.Errorf("%s, %q leads to %s", folder, name, url)
			}
		}
		if folder == "mem://run" {
			continue
		}
		for _, name := range []string{
			"out/x", "out", "out/deep", "absolute/x", "nothing", "nothing/x", "up/outside", "self", "circle/x", "in/file", "sub/file/x",
		} {
			if url, err := s.Within(folder, name); err == nil {
				t.Errorf("%s, %s leads to %s", folder, name, url)
			}
		}
	}
}

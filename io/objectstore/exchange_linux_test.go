package objectstore_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/espalier-ml/espalier/io/objectstore"
)

const accessList = "system.posix_acl_access"

// list is an access control list that lets the user 12345 read a folder: tag, permissions and ID of each entry.
var list = []byte{
	2, 0, 0, 0,
	1, 0, 7, 0, 255, 255, 255, 255,
	2, 0, 5, 0, 57, 48, 0, 0,
	4, 0, 5, 0, 255, 255, 255, 255,
	16, 0, 5, 0, 255, 255, 255, 255,
	32, 0, 0, 0, 255, 255, 255, 255,
}

// TestExchange: a folder takes the place of another one as a whole, with its permissions and its access control list, or nothing changes: if the other
// one has files of others, or changed ones, or is a link.
func TestExchange(t *testing.T) {
	s := objectstore.New()
	for name, c := range map[string]struct {
		change func(folder string) error
		done   bool
	}{
		"own files":              {change: func(folder string) error { return os.Chmod(folder, 0o751) }, done: true},
		"an access control list": {change: func(folder string) error { return unix.Setxattr(folder, accessList, list, 0) }, done: true},
		"a file of others": {change: func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "notes.txt"), nil, 0o600)
		}},
		"a folder of others": {change: func(folder string) error { return os.Mkdir(filepath.Join(folder, "notes"), 0o700) }},
		"a changed file":     {change: func(folder string) error { return os.WriteFile(filepath.Join(folder, "rows"), []byte("2"), 0o600) }},
		"a link to a file": {change: func(folder string) error {
			return errors.Join(os.Remove(filepath.Join(folder, "rows")), os.Symlink("/etc/hosts", filepath.Join(folder, "rows")))
		}},
		"a link": {change: func(folder string) error {
			return errors.Join(os.Rename(folder, folder+".real"), os.Symlink(folder+".real", folder))
		}},
	} {
		folder := filepath.Join(t.TempDir(), "day")
		put := func(name string) {
			t.Helper()
			if err := s.Put(t.Context(), objectstore.Join(folder, name), []byte(name), objectstore.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		put("rows")
		put("lock")
		put("below/rows")
		put("staged/1/rows")
		seen, err := s.Stat(t.Context(), objectstore.Join(folder, "rows"))
		if err != nil {
			t.Fatal(err)
		}
		err = c.change(folder)
		if errors.Is(err, unix.ENOTSUP) { // a file system without lists
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		before := files(t, folder)
		was := make([]byte, len(list))
		_, _ = unix.Getxattr(folder, accessList, was) // most folders have none
		done, err := s.Exchange(t.Context(), filepath.Join(folder, "staged/1"), folder, objectstore.Exchange{
			Own: map[string]string{"rows": seen.Generation, "lock": "", "below/rows": ""}, Kept: "lock",
		})
		after := files(t, folder)
		switch {
		case done != c.done || err != nil:
			t.Errorf("%s: done %t, %v", name, done, err)
		case !done && !maps.Equal(before, after):
			t.Errorf("%s: %v became %v", name, before, after)
		case done && (len(after) != 2 || after["rows"] != before["staged/1/rows"] || after["lock"] != before["lock"]):
			t.Errorf("%s: %v became %v", name, before, after)
		}
		now := make([]byte, len(list))
		_, _ = unix.Getxattr(folder, accessList, now)
		if !bytes.Equal(was, now) {
			t.Errorf("%s: access control list %v became %v", name, was, now)
		}
		info, err := os.Stat(folder)
		if err != nil || name == "own files" && info.Mode().Perm() != 0o751 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		around, err := os.ReadDir(filepath.Dir(folder))
		if err != nil || slices.ContainsFunc(around, func(e os.DirEntry) bool { return e.Name()[0] == '.' }) {
			t.Errorf("%s: left next to it: %v, %v", name, around, err)
		}
	}
}

// files returns the generations of the files below a folder, by name.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	list, err := objectstore.New().Below(t.Context(), folder, 9)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, o := range list {
		name, err := filepath.Rel(folder, o.URL)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = o.Generation
	}
	return found
}

package objectstore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
)

func put(t *testing.T, s *objectstore.Store, url, content string) error {
	t.Helper()
	w, err := s.Create(t.Context(), url, objectstore.WriteOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = w.Abort() }()
	if _, err := w.Write([]byte(content)); err != nil {
		return err
	}
	return w.Commit()
}

func TestMemoryIsShared(t *testing.T) {
	if err := put(t, objectstore.New(), "mem://shared/x", "x"); err != nil {
		t.Fatal(err)
	}
	if b, err := objectstore.New().ReadAll(t.Context(), "mem://shared/x", 0); err != nil || string(b) != "x" {
		t.Errorf("another store of the process sees %q, %v", b, err)
	}
}

func TestMemoryDoesNotCopy(t *testing.T) {
	s := objectstore.New()
	if err := put(t, s, "mem://copy/x", "content"); err != nil {
		t.Fatal(err)
	}
	var seen [2][]byte
	for i := range seen {
		r, err := s.Open(t.Context(), "mem://copy/x")
		if err != nil {
			t.Fatal(err)
		}
		b, ok := r.(objectstore.Byteser)
		if !ok {
			t.Fatal("a reader of mem:// has no Bytes")
		}
		seen[i] = b.Bytes()
	}
	if &seen[0][0] != &seen[1][0] {
		t.Error("two readers have a copy each")
	}
}

func TestUnknownScheme(t *testing.T) {
	for url, hint := range map[string]string{
		"men://x/y": `did you mean "mem"?`, "hdfs://x/y": "there are plain paths, file, mem", "FILE:///x": `"file"`,
		"gs://b/x": `import _ "github.com/espalier-ml/espalier/io/objectstore/gcsstore"`, "file://x/y": "three slashes", "": "empty", "mem://": "names no object",
	} {
		_, err := objectstore.New().List(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: got %v, expected %q in it", url, err, hint)
		}
	}
}

// TestRegisteredLate: a store has the drivers that are registered after it, as packages may be initialised after a
// variable that is a store.
func TestRegisteredLate(t *testing.T) {
	s := objectstore.Open(objectstore.Patience{Idle: time.Second})
	var patience objectstore.Patience
	objectstore.RegisterDriver("late", func(p objectstore.Patience) objectstore.Driver {
		patience = p
		return fixed{}
	})
	if err := s.Check("late://x"); err != nil || patience.Idle != time.Second {
		t.Errorf("%v, patience %v", err, patience)
	}
	if err := objectstore.New().Check("late://x"); err == nil {
		t.Error("a store of New has a registered driver")
	}
}

// TestSlashes: a path meant as a URL is refused for every scheme, and the error shows the
// URL and the path.
func TestSlashes(t *testing.T) {
	t.Chdir(t.TempDir())
	s := objectstore.New()
	s.Register("gs", failing{})
	for path, url := range map[string]string{
		"gs:/b/x": "gs://b/x", "gs:b/x": "gs://b/x", "gs//b/x": "gs://b/x", "GS:/b/x": "gs://b/x", "mem:/x": "mem://x",
		"mem:x":     "mem://x",
		"file:/a/x": "file:///a/x", "file:x": "file:///x", "hdfs:/a/x": "hdfs://a/x", "gs:": "gs://", "gs:/": "gs://",
	} {
		for _, err := range []error{put(t, s, path, "x"), s.RemoveAll(t.Context(), path)} {
			if err == nil || !strings.Contains(err.Error(), "did you mean "+url+"?") ||
				!strings.Contains(err.Error(), "./"+path) {
				t.Errorf("%s: got %v, expected %s in it", path, err, url)
			}
		}
	}
	for _, path := range []string{"./gs:/b/x", "a:b", "C:/x", "day=1/12:30:00.parquet", "x/gs:/y", "12:/x", ":/x"} {
		if err := put(t, s, path, "x"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// failing is a driver whose writes fail as on a full disk.
type failing struct{ objectstore.Driver }

var errFull = errors.New("no space left on device")

type failingWriter struct{ aborted *bool }

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }
func (failingWriter) Commit() error             { return nil }
func (w failingWriter) Abort() error            { *w.aborted = true; return nil }

var aborted bool

func (failing) Create(context.Context, string, objectstore.WriteOptions) (objectstore.Writer, error) {
	return failingWriter{&aborted}, nil
}

// TestCommitAfterFailedWrite checks that Commit fails after an ignored error of Write.
func TestCommitAfterFailedWrite(t *testing.T) {
	s := objectstore.New()
	s.Register("full", failing{})
	w, err := s.Create(t.Context(), "full://disk/x", objectstore.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, errFull) || !strings.Contains(err.Error(), "full://disk/x") {
		t.Errorf("got %v, expected the driver's error and the URL", err)
	}
	if err := w.Commit(); !errors.Is(err, errFull) {
		t.Errorf("Commit: got %v, expected the error of the write", err)
	}
	if !aborted {
		t.Error("the failed write was not aborted")
	}
}

// leftovers lists all files of a folder, with hidden ones.
func leftovers(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestNoTemporaryFilesStay(t *testing.T) {
	folder := t.TempDir()
	s := objectstore.New()
	url := filepath.Join(folder, "x")
	end := func(o objectstore.WriteOptions, end func(objectstore.Writer) error) {
		t.Helper()
		w, err := s.Create(t.Context(), url, o)
		if err != nil {
			t.Fatal(err)
		}
		_ = end(w)
	}
	end(objectstore.WriteOptions{}, objectstore.Writer.Abort)
	end(objectstore.WriteOptions{IfGeneration: "1"}, objectstore.Writer.Commit)
	if got := leftovers(t, folder); len(got) != 0 {
		t.Errorf("left over: %q", got)
	}
	end(objectstore.WriteOptions{IfAbsent: true}, objectstore.Writer.Commit)
	end(objectstore.WriteOptions{IfAbsent: true}, objectstore.Writer.Commit)
	if got := leftovers(t, folder); len(got) != 1 {
		t.Errorf("left over: %q", got)
	}
	if err := os.MkdirAll(filepath.Join(folder, "d", "e"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := put(t, s, filepath.Join(folder, "d"), "x"); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if got := leftovers(t, folder); len(got) != 2 {
		t.Errorf("left over: %q", got)
	}
}

func TestPermission(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	asNobody(t)
	if err := put(t, objectstore.New(), filepath.Join(folder, "x"), "x"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, expected a permission error", err)
	}
}

func TestFileMode(t *testing.T) {
	folder := t.TempDir()
	if err := put(t, objectstore.New(), filepath.Join(folder, "x"), "x"); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(folder, "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want, _ := os.Stat(plain)
	got, err := os.Stat(filepath.Join(folder, "x"))
	if err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, expected %v as for any new file (%v)", got.Mode(), want.Mode(), err)
	}
}

func TestRemoveFolder(t *testing.T) {
	folder := t.TempDir()
	if err := objectstore.New().Remove(t.Context(), folder); !errors.Is(err, objectstore.ErrFolder) {
		t.Errorf("got %v, expected %v", err, objectstore.ErrFolder)
	}
	for _, url := range []string{"/", "//", ".", "mem://", "mem:///", "file:///"} {
		if err := objectstore.New().RemoveAll(t.Context(), url); err == nil {
			t.Errorf("RemoveAll(%q) was not refused", url)
		}
	}
}

func TestLinks(t *testing.T) {
	folder := t.TempDir()
	s := objectstore.New()
	if err := put(t, s, filepath.Join(folder, "real", "a.parquet"), "x"); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"real/b.parquet": "a.parquet", "real/broken.parquet": "none", "linked": "real", "real/circle": "..",
	} {
		if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]int{"*/*.parquet": 6, "**/*.parquet": 3, "linked/*": 3} {
		objects, err := s.List(t.Context(), filepath.Join(folder, pattern))
		if err != nil || len(objects) != want {
			t.Errorf("%s: got %v, %v, expected %d objects", pattern, objects, err, want)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		base string
		elem []string
		want string
	}{
		{"a", []string{"b", "c"}, "a/b/c"},
		{"/a/", []string{"b"}, "/a/b"},
		{"", []string{"b"}, "b"},
		{"gs://bucket", []string{"x", "y"}, "gs://bucket/x/y"},
		{"gs://bucket/", []string{"x"}, "gs://bucket/x"},
		{"mem://", []string{"x"}, "mem://x"},
		{"file:///", []string{"x"}, "file:///x"},
		{"file:///a", []string{"", "x", ""}, "file:///a/x"},
		{"a", nil, "a"},
		{"/", []string{"a"}, "/a"},
	} {
		if got := objectstore.Join(c.base, c.elem...); got != c.want {
			t.Errorf("Join(%q, %q) = %q, expected %q", c.base, c.elem, got, c.want)
		}
	}
}

func FuzzList(f *testing.F) {
	for _, url := range []string{
		"mem://fuzz/*", "mem://fuzz/**/[a-z]?", "x://y", "file://", "mem://a//b", "**", "[",
		"mem://fuzz/[!",
	} {
		f.Add(url)
	}
	s := objectstore.New()
	f.Fuzz(func(t *testing.T, url string) {
		if !strings.HasPrefix(url, "mem://") {
			url = "mem://" + url
		}
		objects, err := s.List(t.Context(), url)
		if err == nil && len(objects) == 0 {
			t.Error("no match and no error")
		}
	})
}

// TestIdentityOfFiles: the identity does not depend on spelling and links, before and after
// the file exists.
func TestIdentityOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s := objectstore.New()
	if err := os.Mkdir("d", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("d", "link"); err != nil {
		t.Skipf("no links here: %v", err)
	}
	urls := []string{
		"d/x", "./d/x", "d//x", "link/x", "d/../d/x", "link/./x", filepath.Join(folder, "d", "x"),
		"file://" + filepath.Join(folder, "link", "x"),
	}
	for range 2 {
		want, err := s.Identity(urls[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, url := range urls {
			if got, err := s.Identity(url); got != want || err != nil {
				t.Errorf("%s: %q, %v, want %q", url, got, err, want)
			}
		}
		if err := put(t, s, "d/x", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join("d", "x"), "y"); err != nil {
		t.Fatal(err)
	}
	x, xErr := s.Identity("d/x")
	y, yErr := s.Identity("y")
	if x != y || xErr != nil || yErr != nil {
		t.Errorf("a link is %q, %v, its file %q, %v", y, yErr, x, xErr)
	}
}

// TestFoldersOfOthers: an empty folder of someone else stays, and a dangling link is not a
// free name.
func TestFoldersOfOthers(t *testing.T) {
	s, folder := objectstore.New(), filepath.Join(t.TempDir(), "own")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	url := filepath.Join(folder, "new", "x")
	if err := put(t, s, url, "x"); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the object stays: %v", err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("the folder that was there: %v", err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink("nothing", link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if _, err := s.Stat(t.Context(), link); err == nil || errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "link") {
		t.Errorf("a link to nothing: got %v", err)
	}
}

// TestSweepStrangers: a file with a name similar to a temporary file's stays.
func TestSweepStrangers(t *testing.T) {
	s, folder := objectstore.New(), t.TempDir()
	for name, stays := range map[string]bool{
		".espalier-0011223344556677.tmp": false, ".espalier-notes.tmp": true, ".espalier-.tmp": true,
		".espalier-001122334455667788.tmp": true, "espalier-0011223344556677.tmp": true,
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := s.Sweep(t.Context(), folder); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWrittenInPlace: a reader of a file that another program writes in place returns bytes of the content that was opened, or
// ErrChanged.
func TestWrittenInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old and old")
	if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil { // clocks of files are coarse
		t.Fatal(err)
	}
	r, err := objectstore.New().Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b := make([]byte, 3)
	if _, err := r.ReadAt(b, 0); err != nil || string(b) != "old" {
		t.Fatalf("got %q, %v", b, err)
	}
	write("new and new")
	if n, err := r.ReadAt(b, 8); n > 0 || !errors.Is(err, objectstore.ErrChanged) {
		t.Errorf("got %q, %v, want %v", b[:n], err, objectstore.ErrChanged)
	}
}

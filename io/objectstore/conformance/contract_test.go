package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// runContract checks the contract of a store. newStore returns a store and the URL of an empty
// folder in it, for each test.
func runContract(t *testing.T, newStore func(t *testing.T) (store *objectstore.Store, baseURL string)) {
	t.Helper()
	tests := []struct {
		name string
		run  func(f *fixture)
	}{
		{"WriteRead", writeRead},
		{"Empty", empty},
		{"RangedReads", rangedReads},
		{"ReadAllLimit", readAllLimit},
		{"NothingVisibleBeforeCommit", nothingBeforeCommit},
		{"Abort", abort},
		{"Cancel", cancel},
		{"AfterEnd", afterEnd},
		{"Overwrite", overwrite},
		{"ReaderKeepsItsGeneration", readerKeepsGeneration},
		{"OpenObject", openObject},
		{"IfAbsent", ifAbsent},
		{"IfAbsentOrSame", ifAbsentOrSame},
		{"IfAbsentRace", ifAbsentRace},
		{"IfGeneration", ifGeneration},
		{"IfGenerationRace", ifGenerationRace},
		{"ContradictingOptions", contradictingOptions},
		{"NotExist", notExist},
		{"Remove", remove},
		{"RemoveSeen", removeSeen},
		{"RemoveAll", removeAll},
		{"NoEmptyFolders", noEmptyFolders},
		{"Identity", identity},
		{"OddNames", oddNames},
		{"ListExact", listExact},
		{"ListGlob", listGlob},
		{"ListFolder", listFolder},
		{"Below", below},
		{"ListNoMatch", listNoMatch},
		{"ListBadPattern", listBadPattern},
		{"CreateFolder", createFolder},
		{"ConcurrentUse", concurrentUse},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store, base := newStore(t)
			test.run(&fixture{T: t, store: store, base: base})
		})
	}
}

// fixture is a store under test. Its methods fail the test on errors.
type fixture struct {
	*testing.T
	store *objectstore.Store
	base  string
}

func (f *fixture) url(elem ...string) string { return objectstore.Join(f.base, elem...) }

func (f *fixture) create(url string, o objectstore.WriteOptions) objectstore.Writer {
	f.Helper()
	w, err := f.store.Create(f.Context(), url, o)
	if err != nil {
		f.Fatal(err)
	}
	return w
}

// tryPut writes an object and returns the error of its commit.
func (f *fixture) tryPut(url, content string, o objectstore.WriteOptions) error {
	f.Helper()
	w := f.create(url, o)
	if _, err := io.WriteString(w, content); err != nil {
		f.Fatal(err)
	}
	return w.Commit()
}

func (f *fixture) put(url, content string) {
	f.Helper()
	if err := f.tryPut(url, content, objectstore.WriteOptions{}); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) stat(url string) objectstore.Object {
	f.Helper()
	o, err := f.store.Stat(f.Context(), url)
	if err != nil {
		f.Fatal(err)
	}
	return o
}

// want checks an object's content; "-" means that there is no object.
func (f *fixture) want(url, content string) {
	f.Helper()
	b, err := f.store.ReadAll(f.Context(), url, 0)
	switch {
	case content == "-":
		f.wantError(err, fs.ErrNotExist, url)
	case err != nil:
		f.Fatal(err)
	case string(b) != content:
		f.Errorf("%s: got %q, expected %q", url, b, content)
	}
}

func (f *fixture) wantError(err, target error, url string) {
	f.Helper()
	if !errors.Is(err, target) {
		f.Fatalf("got error %v, expected one that wraps %v", err, target)
	}
	if !strings.Contains(err.Error(), url) {
		f.Errorf("the error does not name %s: %v", url, err)
	}
}

// wantFiles checks which files below the base match a pattern.
func (f *fixture) wantFiles(pattern string, names ...string) {
	f.Helper()
	objects, err := f.store.List(f.Context(), f.url(pattern))
	if err != nil && len(names) > 0 {
		f.Fatal(err)
	}
	f.wantURLs(pattern, objects, names)
}

// wantURLs checks the URLs of objects that a call for an argument has returned.
func (f *fixture) wantURLs(argument string, objects []objectstore.Object, names []string) {
	f.Helper()
	var got, want []string
	for _, o := range objects {
		got = append(got, o.URL)
	}
	for _, name := range names {
		want = append(want, f.url(name))
	}
	if !slices.Equal(got, want) {
		f.Errorf("%s: got %q, expected %q", argument, got, want)
	}
}

func writeRead(f *fixture) {
	url := f.url("deep", "er", "a.bin")
	f.put(url, "some content")
	f.want(url, "some content")
	o := f.stat(url)
	if o.URL != url || o.Size != 12 || o.Generation == "" {
		f.Errorf("got %+v", o)
	}
	r, err := f.store.Open(f.Context(), url)
	if err != nil {
		f.Fatal(err)
	}
	if r.Size() != 12 || r.Generation() != o.Generation {
		f.Errorf("size %d, generation %q, expected those of %+v", r.Size(), r.Generation(), o)
	}
	if b, ok := r.(objectstore.Byteser); ok && string(b.Bytes()) != "some content" {
		f.Errorf("Bytes: got %q", b.Bytes())
	}
	if err := r.Close(); err != nil {
		f.Error(err)
	}
}

func empty(f *fixture) {
	f.put(f.url("empty"), "")
	f.want(f.url("empty"), "")
}

func rangedReads(f *fixture) {
	content := strings.Repeat("0123456789", 10_000)
	f.put(f.url("x"), content)
	r, err := f.store.Open(f.Context(), f.url("x"))
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, c := range []struct {
		off, length, want int
		err               error
	}{
		{0, 10, 10, nil},
		{99_990, 10, 10, nil},
		{50_003, 40_000, 40_000, nil},
		{99_995, 10, 5, io.EOF},
		{100_000, 1, 0, io.EOF},
		{200_000, 1, 0, io.EOF},
	} {
		b := make([]byte, c.length)
		n, err := r.ReadAt(b, int64(c.off))
		if n != c.want || c.err != nil && !errors.Is(err, c.err) ||
			c.err == nil && err != nil && !errors.Is(err, io.EOF) {
			f.Errorf("ReadAt(%d bytes, %d): %d, %v", c.length, c.off, n, err)
		}
		if n > 0 && string(b[:n]) != content[c.off:c.off+n] {
			f.Errorf("ReadAt(%d bytes, %d): wrong bytes", c.length, c.off)
		}
	}
	if _, err := r.ReadAt(make([]byte, 1), -1); err == nil {
		f.Error("a negative offset gave no error")
	}
}

func readAllLimit(f *fixture) {
	f.put(f.url("x"), "12345")
	if _, err := f.store.ReadAll(f.Context(), f.url("x"), 5); err != nil {
		f.Error(err)
	}
	_, err := f.store.ReadAll(f.Context(), f.url("x"), 4)
	if err == nil || !strings.Contains(err.Error(), f.url("x")) {
		f.Errorf("got %v, expected an error that names the URL", err)
	}
}

func nothingBeforeCommit(f *fixture) {
	url := f.url("x")
	w := f.create(url, objectstore.WriteOptions{})
	if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
		f.Fatal(err)
	}
	f.want(url, "-")
	f.wantFiles("**")
	if err := w.Commit(); err != nil {
		f.Fatal(err)
	}
	f.wantFiles("**", "x")
}

func abort(f *fixture) {
	url := f.url("x")
	f.put(url, "old")
	w := f.create(url, objectstore.WriteOptions{})
	if _, err := io.WriteString(w, "new"); err != nil {
		f.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		f.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		f.Errorf("a second Abort: %v", err)
	}
	f.want(url, "old")
	if err := w.Commit(); err == nil {
		f.Error("Commit after Abort gave no error")
	}
	f.want(url, "old")
	f.wantFiles("**", "x")
}

func cancel(f *fixture) {
	ctx, cancel := context.WithCancel(f.Context())
	w, err := f.store.Create(ctx, f.url("x"), objectstore.WriteOptions{})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := io.WriteString(w, "content"); err != nil {
		f.Fatal(err)
	}
	cancel()
	f.wantError(w.Commit(), context.Canceled, f.url("x"))
	f.want(f.url("x"), "-")
}

func afterEnd(f *fixture) {
	w := f.create(f.url("x"), objectstore.WriteOptions{})
	if err := w.Commit(); err != nil {
		f.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		f.Errorf("Abort after Commit: %v", err)
	}
	if _, err := io.WriteString(w, "more"); err == nil {
		f.Error("Write after Commit gave no error")
	}
	if err := w.Commit(); err == nil {
		f.Error("a second Commit gave no error")
	}
	f.want(f.url("x"), "")
}

func overwrite(f *fixture) {
	url := f.url("x")
	f.put(url, "one")
	first := f.stat(url)
	f.put(url, "two")
	f.want(url, "two")
	if second := f.stat(url); second.Generation == first.Generation {
		f.Errorf("both contents have generation %q", first.Generation)
	}
}

func readerKeepsGeneration(f *fixture) {
	url := f.url("x")
	f.put(url, "one")
	r, err := f.store.Open(f.Context(), url)
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	f.put(url, "other")
	b := make([]byte, 3)
	// Stores without versions no longer have the content, and must return ErrChanged.
	if n, err := r.ReadAt(b, 0); string(b[:n]) != "one" && !errors.Is(err, objectstore.ErrChanged) {
		f.Errorf("got %q, %v, expected the content that was opened", b[:n], err)
	}
	if r.Generation() == f.stat(url).Generation {
		f.Error("the reader claims the new generation")
	}
}

func openObject(f *fixture) {
	url := f.url("x")
	f.put(url, "one")
	first := f.stat(url)
	read := func(o objectstore.Object) (string, error) {
		r, err := f.store.OpenObject(f.Context(), o)
		if err != nil {
			return "", err
		}
		defer func() { _ = r.Close() }()
		b := make([]byte, r.Size())
		n, err := r.ReadAt(b, 0)
		if n == len(b) {
			err = nil
		}
		return string(b[:n]), err
	}
	if s, err := read(first); s != "one" || err != nil {
		f.Errorf("got %q, %v", s, err)
	}
	f.put(url, "two")
	if s, err := read(first); !errors.Is(err, objectstore.ErrChanged) {
		f.Errorf("after it was replaced: got %q, %v, expected %v", s, err, objectstore.ErrChanged)
	}
	if err := f.store.Remove(f.Context(), url); err != nil {
		f.Fatal(err)
	}
	if s, err := read(first); !errors.Is(err, objectstore.ErrChanged) {
		f.Errorf("after it was removed: got %q, %v, expected %v", s, err, objectstore.ErrChanged)
	}
}

func ifAbsent(f *fixture) {
	url := f.url("x")
	if err := f.tryPut(url, "first", objectstore.WriteOptions{IfAbsent: true}); err != nil {
		f.Fatal(err)
	}
	f.wantError(f.tryPut(url, "second", objectstore.WriteOptions{IfAbsent: true}), fs.ErrExist, url)
	f.want(url, "first")
	f.wantFiles("**", "x")
}

// race lets many writers commit at once, and returns the number of successful ones.
func (f *fixture) race(url string, o objectstore.WriteOptions) (won int, content string) {
	const writers = 16
	var wg sync.WaitGroup
	errs := make([]error, writers)
	start := make(chan struct{})
	for i := range writers {
		w := f.create(url, o)
		if _, err := fmt.Fprintf(w, "writer %d", i); err != nil {
			f.Fatal(err)
		}
		wg.Go(func() {
			<-start
			errs[i] = w.Commit()
		})
	}
	close(start)
	wg.Wait()
	for i, err := range errs {
		if err == nil {
			won++
			content = fmt.Sprintf("writer %d", i)
			continue
		}
		f.wantError(err, fs.ErrExist, url)
	}
	return won, content
}

func ifAbsentRace(f *fixture) {
	won, content := f.race(f.url("x"), objectstore.WriteOptions{IfAbsent: true})
	if won != 1 {
		f.Fatalf("%d writers won", won)
	}
	f.want(f.url("x"), content)
	f.wantFiles("**", "x")
}

func ifGeneration(f *fixture) {
	url := f.url("x")
	f.wantError(f.tryPut(url, "x", objectstore.WriteOptions{IfGeneration: "1"}), fs.ErrExist, url)
	f.want(url, "-")
	f.put(url, "one")
	first := f.stat(url).Generation
	if err := f.tryPut(url, "two", objectstore.WriteOptions{IfGeneration: first}); err != nil {
		f.Fatal(err)
	}
	f.wantError(f.tryPut(url, "three", objectstore.WriteOptions{IfGeneration: first}), fs.ErrExist, url)
	f.want(url, "two")
}

func ifGenerationRace(f *fixture) {
	f.put(f.url("x"), "old")
	won, content := f.race(f.url("x"), objectstore.WriteOptions{IfGeneration: f.stat(f.url("x")).Generation})
	if won != 1 {
		f.Fatalf("%d writers won", won)
	}
	f.want(f.url("x"), content)
}

func contradictingOptions(f *fixture) {
	_, err := f.store.Create(f.Context(), f.url("x"), objectstore.WriteOptions{IfAbsent: true, IfGeneration: "1"})
	if err == nil {
		f.Error("expected an error")
	}
}

func notExist(f *fixture) {
	url := f.url("none")
	_, err := f.store.Stat(f.Context(), url)
	f.wantError(err, fs.ErrNotExist, url)
	_, err = f.store.Open(f.Context(), url)
	f.wantError(err, fs.ErrNotExist, url)
	_, err = f.store.ReadAll(f.Context(), url, 0)
	f.wantError(err, fs.ErrNotExist, url)
	f.wantError(f.store.Remove(f.Context(), url), fs.ErrNotExist, url)
}

func remove(f *fixture) {
	f.put(f.url("x"), "x")
	f.put(f.url("xy"), "xy")
	if err := f.store.Remove(f.Context(), f.url("x")); err != nil {
		f.Fatal(err)
	}
	f.wantFiles("**", "xy")
}

func removeAll(f *fixture) {
	for _, name := range []string{"s/a", "s/deep/b", "s/.hidden", "t/c", "sx"} {
		f.put(f.url(name), name)
	}
	if err := f.store.RemoveAll(f.Context(), f.url("s")); err != nil {
		f.Fatal(err)
	}
	f.wantFiles("**", "sx", "t/c")
	f.want(f.url("s/.hidden"), "-")
	if err := f.store.RemoveAll(f.Context(), f.url("s")); err != nil {
		f.Errorf("a folder that is gone: %v", err)
	}
	if err := f.store.RemoveAll(f.Context(), f.url("sx")); err != nil {
		f.Error(err)
	}
	f.wantFiles("**", "t/c")
}

// oddNames has names with characters that URLs usually encode.
func oddNames(f *fixture) {
	names := []string{
		"a b", "a%20b", "a%2Fb", "a+b", "a&b=c", "a#b", "day=2024-01-01/x", "ä€😀", "a'b\"c",
		"a;b,c:d@e!f~g$(h)",
	}
	for _, name := range names {
		f.put(f.url(name), name)
	}
	for _, name := range names {
		f.want(f.url(name), name)
	}
	objects, err := f.store.List(f.Context(), f.url("**"))
	if err != nil || len(objects) != len(names) {
		f.Fatalf("%d objects, %v, expected %d: %v", len(objects), err, len(names), objects)
	}
	for _, name := range names {
		if !slices.ContainsFunc(objects, func(o objectstore.Object) bool { return o.URL == f.url(name) }) {
			f.Errorf("%q is not listed: %v", name, objects)
		}
	}
	for _, name := range names[1:] {
		if err := f.store.Remove(f.Context(), f.url(name)); err != nil {
			f.Error(err)
		}
	}
	f.wantFiles("**", names[0])
}

func listExact(f *fixture) {
	f.put(f.url("_hidden"), "x")
	f.wantFiles("_hidden", "_hidden")
	f.put(f.url("odd[1].x"), "x")
	f.wantFiles("odd[1].x", "odd[1].x")
}

func listGlob(f *fixture) {
	for _, name := range []string{
		"b.parquet", "a.parquet", "a.csv", ".a.parquet", "_SUCCESS",
		"d/c.parquet", "d/e/f.parquet", "d/_tmp/g.parquet", "d2/h.parquet",
	} {
		f.put(f.url(name), name)
	}
	f.wantFiles("*.parquet", "a.parquet", "b.parquet")
	f.wantFiles("?.csv", "a.csv")
	f.wantFiles("[b-z].*", "b.parquet")
	f.wantFiles("[^b-z].*", "a.csv", "a.parquet")
	f.wantFiles("*", "a.csv", "a.parquet", "b.parquet")
	f.wantFiles("*/*.parquet", "d/c.parquet", "d2/h.parquet")
	f.wantFiles("d/*", "d/c.parquet")
	f.wantFiles("d*/*", "d/c.parquet", "d2/h.parquet")
	f.wantFiles("**/*.parquet", "a.parquet", "b.parquet", "d/c.parquet", "d/e/f.parquet", "d2/h.parquet")
	f.wantFiles("d/**", "d/c.parquet", "d/e/f.parquet")
	f.wantFiles("**/e/*", "d/e/f.parquet")
	f.wantFiles("d/_tmp/*", "d/_tmp/g.parquet")
	objects, err := f.store.List(f.Context(), f.url("a.*"))
	if err != nil || len(objects) != 2 || objects[0] != f.stat(f.url("a.csv")) {
		f.Errorf("got %v, %v, expected what Stat says", objects, err)
	}
}

func listFolder(f *fixture) {
	f.put(f.url("d/a.parquet"), "x")
	for _, url := range []string{f.url("d"), f.url("d") + "/"} {
		_, err := f.store.List(f.Context(), url)
		f.wantError(err, objectstore.ErrFolder, url)
		if !strings.Contains(err.Error(), "/*") {
			f.Errorf("no hint: %v", err)
		}
	}
}

func listNoMatch(f *fixture) {
	f.put(f.url("d/a.parquet"), "x")
	for _, pattern := range []string{"*.csv", "none/*.parquet", "none", "d/a.parquet/x*"} {
		_, err := f.store.List(f.Context(), f.url(pattern))
		f.wantError(err, fs.ErrNotExist, f.url(pattern))
	}
}

func listBadPattern(f *fixture) {
	_, err := f.store.List(f.Context(), f.url("[a-"))
	if err == nil || !strings.Contains(err.Error(), "[a-") {
		f.Errorf("got %v, expected an error that names the pattern", err)
	}
}

func createFolder(f *fixture) {
	_, err := f.store.Create(f.Context(), f.url("d")+"/", objectstore.WriteOptions{})
	f.wantError(err, objectstore.ErrFolder, f.url("d"))
	f.wantFiles("**")
}

func concurrentUse(f *fixture) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			url := f.url(fmt.Sprintf("f%d", i))
			for range 10 {
				if err := f.tryPut(url, url, objectstore.WriteOptions{}); err != nil {
					f.Error(err)
				}
				if b, err := f.store.ReadAll(f.Context(), url, 0); err != nil || string(b) != url {
					f.Errorf("got %q, %v", b, err)
				}
				if _, err := f.store.List(f.Context(), f.url("f*")); err != nil {
					f.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// removeSeen: a replaced object is not removed.
func removeSeen(f *fixture) {
	url := f.url("x")
	f.put(url, "one")
	seen := f.stat(url)
	f.put(url, "another")
	if err := f.store.RemoveSeen(f.Context(), seen); !errors.Is(err, objectstore.ErrChanged) {
		f.Errorf("it has changed: got %v", err)
	}
	f.want(url, "another")
	for range 2 { // the second time the object is gone
		if err := f.store.RemoveSeen(f.Context(),
			objectstore.Object{URL: url, Generation: seen.Generation}); err == nil {
			f.Error("it has changed, and was removed")
		}
		seen = f.stat(url)
		if err := f.store.RemoveSeen(f.Context(), seen); err != nil {
			f.Error(err)
		}
		f.want(url, "-")
		f.put(url, "a third one")
	}
}

// noEmptyFolders: a folder made for an object is removed with the last object in it, and
// after an aborted write. A folder with other objects stays.
func noEmptyFolders(f *fixture) {
	f.put(f.url("d", "x"), "x")
	for _, end := range []func(){
		func() {
			f.put(f.url("d", "e", "f", "y"), "y")
			if err := f.store.Remove(f.Context(), f.url("d", "e", "f", "y")); err != nil {
				f.Error(err)
			}
		},
		func() {
			if err := f.create(f.url("d", "e", "f", "y"), objectstore.WriteOptions{}).Abort(); err != nil {
				f.Error(err)
			}
		},
		func() {
			f.put(f.url("d", "e", "f", "y"), "y")
			if err := f.store.RemoveAll(f.Context(), f.url("d", "e", "f")); err != nil {
				f.Error(err)
			}
		},
	} {
		end()
		// Stat of a folder is ErrFolder in stores with folders, else ErrNotExist.
		if _, err := f.store.Stat(f.Context(), f.url("d", "e")); !errors.Is(err, fs.ErrNotExist) {
			f.Errorf("the folder stays: %v", err)
		}
		f.want(f.url("d", "x"), "x")
	}
	if err := f.store.RemoveEmpty(f.url("d")); err != nil {
		f.Error(err)
	}
	f.want(f.url("d", "x"), "x")
}

// identity: two URLs have the same identity exactly if they name the same object.
func identity(f *fixture) {
	of := func(url string) string {
		f.Helper()
		id, err := f.store.Identity(url)
		if err != nil {
			f.Fatal(err)
		}
		return id
	}
	for range 2 { // before and after the object exists
		x := f.url("d", "x")
		if first, again := of(x), of(x); first != again {
			f.Errorf("%s is %s and %s", x, first, again)
		}
		for _, other := range []string{f.url("d", "y"), f.url("x"), f.url("d", "xx")} {
			if of(other) == of(x) {
				f.Errorf("%s and %s are told to be the same", x, other)
			}
		}
		f.put(x, "x")
		f.put(f.url("d", "y"), "y")
	}
}

// ifAbsentOrSame: a write can be repeated, and never replaces other bytes.
func ifAbsentOrSame(f *fixture) {
	url, o := f.url("x"), objectstore.WriteOptions{IfAbsent: true, OrSame: true}
	for range 2 {
		if err := f.tryPut(url, "content", o); err != nil {
			f.Error(err)
		}
	}
	for _, other := range []string{"", "conten", "content.", "Content"} {
		f.wantError(f.tryPut(url, other, o), fs.ErrExist, url)
	}
	f.want(url, "content")
}

// below: Below lists the objects in a folder, also if its name has wildcards.
func below(f *fixture) {
	for _, name := range []string{"[1]/x", "[1]/_y", "[1]/d/z", "1/x", "[1]x"} {
		f.put(f.url(name), "x")
	}
	for folder, names := range map[string][]string{
		"[1]": {"[1]/_y", "[1]/x"}, "[1]/": {"[1]/_y", "[1]/x"},
		"[1]/d": {"[1]/d/z"}, "*": nil, "none": nil,
	} {
		objects, err := f.store.Below(f.Context(), f.base+"/"+folder, 1)
		if err != nil {
			f.Error(err)
		}
		f.wantURLs(folder, objects, names)
	}
}

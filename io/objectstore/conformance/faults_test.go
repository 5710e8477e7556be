package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
)

// remoteStore is a store over HTTP, with the driver under test.
type remoteStore struct {
	// start returns the URL of a server. All tests may share it.
	start func(tb testing.TB) string
	// open returns a store for the server or proxy at the given URL, and the URL of a folder
	// in it.
	open func(tb testing.TB, url string, o httpstore.Options) (store *objectstore.Store, baseURL string)
}

// largeBytes is the size of an object that drivers write by several requests.
const largeBytes = 9<<20 + 17

// tries is the number of tries of all stores under test.
const tries = 4

// runFaults tests a driver on a failing store: it repeats requests if this may help, other
// errors become one sentence, no operation hangs, and no object is half written. The tests
// do not depend on the speed of the machine.
func runFaults(t *testing.T, remote remoteStore) {
	t.Helper()
	tests := []struct {
		name string
		run  func(f *faulty)
	}{
		{"RequestCounts", requestCounts},
		{"Large", large},
		{"ManyObjects", manyObjects},
		{"Transient", transient},
		{"Persistent", persistent},
		{"Reset", resets},
		{"CutBodyResumes", cutBodyResumes},
		{"CutBodyAlways", cutBodyAlways},
		{"CutListing", cutListing},
		{"PoorLine", poorLine},
		{"WrongLengthOnce", wrongLengthOnce},
		{"WrongLengthAlways", wrongLengthAlways},
		{"Hang", hang},
		{"HangOnce", hangOnce},
		{"StallBody", stallBody},
		{"SlowBody", slowBody},
		{"Unreachable", unreachable},
		{"Forbidden", forbidden},
		{"NoBucket", noBucket},
		{"LostAnswer", lostAnswer},
		{"LostAnswerLarge", lostAnswerLarge},
		{"LostAnswers", lostAnswers},
		{"LostRemove", lostRemove},
		{"LostRace", lostRace},
		{"FailedWrite", failedWrite},
		{"FailedWriteLarge", failedWriteLarge},
		{"AbortLarge", abortLarge},
		{"ConditionsLarge", conditionsLarge},
		{"CancelRead", cancelRead},
		{"CancelWrite", cancelWrite},
		{"CancelPause", cancelPause},
		{"ConcurrentReads", concurrentReads},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.run(newFaulty(t, remote))
		})
	}
}

// faulty is a store under test behind a proxy.
type faulty struct {
	fixture
	remote remoteStore
	faults *objectstoretest.Faults
}

func newFaulty(t *testing.T, remote remoteStore) *faulty {
	t.Helper()
	f := &faulty{remote: remote, faults: objectstoretest.NewFaults(t, remote.start(t))}
	f.T = t
	f.options(httpstore.Options{})
	return f
}

// options replaces the store by a store with other options and the same folder.
func (f *faulty) options(o httpstore.Options) {
	f.Helper()
	o.Attempts, o.BusyAttempts, o.Backoff, o.MaxBackoff = tries, tries, time.Millisecond, 4*time.Millisecond
	var base string
	if f.store, base = f.remote.open(f.T, f.faults.URL, o); f.base == "" {
		f.base = base
	}
}

func (f *faulty) inject(kind objectstoretest.Kind, skip, times int, effect objectstoretest.Effect) {
	f.faults.Inject(objectstoretest.Fault{Kinds: []objectstoretest.Kind{kind}, Skip: skip, Times: times, Effect: effect})
}

// wantClear checks that an error is one sentence with the given parts.
func (f *faulty) wantClear(err error, parts ...string) {
	f.Helper()
	if err == nil {
		f.Fatal("got no error")
	}
	text := err.Error()
	if strings.Contains(text, "\n") || len(text) > 400 || strings.Contains(strings.ToLower(text), "requestid") {
		f.Errorf("not one sentence: %s", text)
	}
	for _, part := range append(parts, f.base) {
		if !strings.Contains(text, part) {
			f.Errorf("got %q, expected %q in it", text, part)
		}
	}
}

func (f *faulty) wantCount(want int, kinds ...objectstoretest.Kind) {
	f.Helper()
	if got := f.faults.Count(kinds...); got != want {
		f.Errorf("%v: %d requests, expected %d: %+v", kinds, got, want, f.faults.Requests())
	}
}

// pattern returns bytes that differ from place to place.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func (f *faulty) open(url string) objectstore.Reader {
	f.Helper()
	r, err := f.store.OpenObject(f.Context(), f.stat(url))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = r.Close() })
	return r
}

// wantRange checks one read.
func (f *faulty) wantRange(r io.ReaderAt, content []byte, off, length int) {
	f.Helper()
	b := make([]byte, length)
	if n, err := r.ReadAt(b, int64(off)); n != length || err != nil && !errors.Is(err, io.EOF) {
		f.Fatalf("ReadAt(%d bytes, %d): %d, %v", length, off, n, err)
	}
	if !bytes.Equal(b, content[off:off+length]) {
		f.Errorf("ReadAt(%d bytes, %d): wrong bytes", length, off)
	}
}

func requestCounts(f *faulty) {
	content := pattern(1000)
	f.put(f.url("x"), string(content))
	f.wantCount(1, objectstoretest.Write)
	o := f.stat(f.url("x"))
	f.faults.Clear()
	r, err := f.store.OpenObject(f.Context(), o)
	if err != nil {
		f.Fatal(err)
	}
	f.wantCount(0)
	f.wantRange(r, content, 10, 100)
	f.wantCount(1)
	f.wantRange(r, content, 900, 100)
	f.wantCount(2)
	if _, received := f.faults.Bytes(objectstoretest.Read); received != 200 {
		f.Errorf("%d bytes were sent for 200", received)
	}
	if err := r.Close(); err != nil {
		f.Error(err)
	}
	f.faults.Clear()
	if _, err := f.store.Open(f.Context(), f.url("x")); err != nil {
		f.Fatal(err)
	}
	f.wantCount(1)
}

// writeLarge writes in steps that differ from the size of pieces.
func (f *faulty) writeLarge(url string, content []byte, o objectstore.WriteOptions) error {
	f.Helper()
	w := f.create(url, o)
	defer func() { _ = w.Abort() }() // after Commit it does nothing
	const step = 1234567
	for len(content) > 0 {
		n := min(step, len(content))
		if _, err := w.Write(content[:n]); err != nil {
			return err
		}
		content = content[n:]
	}
	return w.Commit()
}

func large(f *faulty) {
	for _, size := range []int{largeBytes, 8 << 20, 8<<20 + 1, 16 << 20} {
		content := pattern(size)
		url := f.url(strconv.Itoa(size))
		if err := f.writeLarge(url, content, objectstore.WriteOptions{}); err != nil {
			f.Fatal(err)
		}
		o := f.stat(url)
		if o.Size != int64(size) {
			f.Errorf("%d bytes, expected %d", o.Size, size)
		}
		f.wantRange(f.open(url), content, 0, size)
	}
}

func manyObjects(f *faulty) {
	const n = 1100
	var wg sync.WaitGroup
	limit := make(chan struct{}, 16)
	for i := range n {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			w, err := f.store.Create(f.Context(), f.url("many", fmt.Sprintf("%04d", i)), objectstore.WriteOptions{})
			if err == nil {
				err = w.Commit()
			}
			if err != nil {
				f.Error(err)
			}
		})
	}
	wg.Wait()
	f.put(f.url("many", "deep", "er"), "x")
	f.faults.Clear()
	for glob, want := range map[string]int{"many/*": n, "many/**": n + 1} {
		objects, err := f.store.List(f.Context(), f.url(glob))
		if err != nil || len(objects) != want {
			f.Errorf("%s: %d objects, %v, expected %d", glob, len(objects), err, want)
		}
	}
	if pages := f.faults.Count(objectstoretest.List); pages < 4 {
		f.Errorf("%d pages: nothing was paginated", pages)
	}
	f.faults.Clear()
	if _, known, err := f.store.Folders(f.Context(), f.url("many")); known || err != nil {
		f.Errorf("all folders of a long listing known: %v, %v", known, err)
	}
	for folder, want := range map[string][]string{f.url(): {"many"}, f.url("many", "deep"): nil, f.url("none"): nil} {
		if got, known, err := f.store.Folders(f.Context(), folder); !known || err != nil || !slices.Equal(got, want) {
			f.Errorf("%s: folders %q, known: %v, %v, expected %q", folder, got, known, err, want)
		}
	}
	if pages := f.faults.Count(objectstoretest.List); pages != 4 {
		f.Errorf("%d listings for 4 folders", pages)
	}
	if err := f.store.RemoveAll(f.Context(), f.url("many")); err != nil {
		f.Fatal(err)
	}
	f.wantFiles("**")
}

// each runs an operation of each kind on an existing object.
func (f *faulty) each(run func(f *faulty, kind objectstoretest.Kind, do func() error)) {
	f.Helper()
	do := map[objectstoretest.Kind]func(f *faulty) error{
		objectstoretest.Read: func(f *faulty) error {
			_, err := f.store.ReadAll(f.Context(), f.url("x"), 0)
			return err
		},
		objectstoretest.Stat: func(f *faulty) error {
			_, err := f.store.Stat(f.Context(), f.url("x"))
			return err
		},
		objectstoretest.List: func(f *faulty) error {
			_, err := f.store.List(f.Context(), f.url("*"))
			return err
		},
		objectstoretest.Write:  func(f *faulty) error { return f.tryPut(f.url("x"), "new", objectstore.WriteOptions{}) },
		objectstoretest.Remove: func(f *faulty) error { return f.store.Remove(f.Context(), f.url("x")) },
	}
	for _, kind := range []objectstoretest.Kind{objectstoretest.Read, objectstoretest.Stat, objectstoretest.List, objectstoretest.Write, objectstoretest.Remove} {
		f.Run(string(kind), func(t *testing.T) {
			inner := *f
			inner.T = t
			inner.faults.Clear()
			inner.put(inner.url("x"), "old")
			inner.faults.Clear()
			run(&inner, kind, func() error { return do[kind](&inner) })
		})
	}
}

func transient(f *faulty) {
	for _, code := range []int{500, 502, 503, 504, 429, 408} {
		f.each(func(f *faulty, kind objectstoretest.Kind, do func() error) {
			f.inject(kind, 0, 2, objectstoretest.Status(code))
			if err := do(); err != nil {
				f.Error(err)
			}
			f.wantCount(3, kind)
		})
	}
}

func persistent(f *faulty) {
	f.each(func(f *faulty, kind objectstoretest.Kind, do func() error) {
		f.inject(kind, 0, 0, objectstoretest.Status(503))
		f.wantClear(do(), "gave up after 4 tries: the store answered 503 Service Unavailable")
		f.wantCount(tries, kind)
	})
}

func resets(f *faulty) {
	f.each(func(f *faulty, kind objectstoretest.Kind, do func() error) {
		f.inject(kind, 0, 2, objectstoretest.Reset())
		if err := do(); err != nil {
			f.Error(err)
		}
	})
	f.each(func(f *faulty, kind objectstoretest.Kind, do func() error) {
		f.inject(kind, 0, 0, objectstoretest.Reset())
		f.wantClear(do(), "gave up after 4 tries: the store closed the connection without an answer")
	})
}

func cutBodyResumes(f *faulty) {
	content := pattern(10_000)
	f.put(f.url("x"), string(content))
	r := f.open(f.url("x"))
	f.faults.Clear()
	f.inject(objectstoretest.Read, 0, 2, objectstoretest.CutBody(1500))
	f.wantRange(r, content, 1000, 5000)
	var ranges []string
	for _, q := range f.faults.Requests(objectstoretest.Read) {
		ranges = append(ranges, q.Range)
	}
	if got, want := fmt.Sprint(ranges), "[bytes=1000-5999 bytes=2500-5999 bytes=4000-5999]"; got != want {
		f.Errorf("asked for %s, expected %s", got, want)
	}
}

func cutBodyAlways(f *faulty) {
	content := pattern(10_000)
	f.put(f.url("x"), string(content))
	r := f.open(f.url("x"))
	f.faults.Clear()
	f.inject(objectstoretest.Read, 0, 0, objectstoretest.CutBody(10))
	n, err := r.ReadAt(make([]byte, 5000), 0)
	if n >= 5000 || err == nil || !strings.Contains(err.Error(), "gave up after 4 tries: the answer was cut short") {
		f.Errorf("got %d bytes, %v", n, err)
	}
	f.wantCount(tries, objectstoretest.Read)
}

func cutListing(f *faulty) {
	f.put(f.url("x"), "x")
	f.inject(objectstoretest.List, 0, 1, objectstoretest.CutBody(10))
	f.wantFiles("*", "x")
	f.faults.Clear()
	f.inject(objectstoretest.List, 0, 0, objectstoretest.CutBody(10))
	_, err := f.store.List(f.Context(), f.url("*"))
	f.wantClear(err, "gave up after 4 tries: the answer was cut short")
}

// poorLine cuts more answers than there are tries, each after many bytes.
func poorLine(f *faulty) {
	content := pattern(8 << 20)
	f.put(f.url("x"), string(content))
	f.inject(objectstoretest.Read, 0, 0, objectstoretest.CutBody(3<<19))
	f.wantRange(f.open(f.url("x")), content, 0, len(content))
	f.wantCount(6, objectstoretest.Read)
}

func wrongLengthOnce(f *faulty) {
	content := pattern(10_000)
	f.put(f.url("x"), string(content))
	r := f.open(f.url("x"))
	for name, effect := range map[string]objectstoretest.Effect{
		"short": objectstoretest.ShortBody(10), "long": objectstoretest.LongBody(10),
		"empty": objectstoretest.ShortBody(5000),
	} {
		f.faults.Clear()
		f.inject(objectstoretest.Read, 0, 2, effect)
		f.wantRange(r, content, 1000, 5000)
		if got := f.faults.Count(objectstoretest.Read); got != 3 {
			f.Errorf("%s: %d requests", name, got)
		}
	}
}

func wrongLengthAlways(f *faulty) {
	f.put(f.url("x"), string(pattern(10_000)))
	r := f.open(f.url("x"))
	for _, c := range []struct {
		effect objectstoretest.Effect
		got    string
	}{{objectstoretest.ShortBody(10), "got 4990"}, {objectstoretest.LongBody(10), "got 5010"}, {objectstoretest.ShortBody(5000), "got 0"}} {
		f.faults.Clear()
		f.inject(objectstoretest.Read, 0, 0, c.effect)
		_, err := r.ReadAt(make([]byte, 5000), 1000)
		want := "gave up after 4 tries: expected 5000 bytes at offset 1000, " + c.got
		if err == nil || !strings.Contains(err.Error(), want) {
			f.Errorf("got %v, expected %q", err, want)
		}
		f.wantCount(tries, objectstoretest.Read)
	}
}

// short is the idle timeout of the tests with a hanging store. They pass on a slow machine
// too, and would hang without the timeout.
const short = 100 * time.Millisecond

func hang(f *faulty) {
	f.each(func(f *faulty, kind objectstoretest.Kind, do func() error) {
		f.options(httpstore.Options{IdleTimeout: short})
		f.inject(kind, 0, 0, objectstoretest.Hang())
		f.wantClear(do(), "gave up after 4 tries: no answer for 100ms") // on a slow machine not all of them reach the store
	})
}

func hangOnce(f *faulty) {
	f.options(httpstore.Options{IdleTimeout: time.Second})
	f.put(f.url("x"), "x")
	f.inject(objectstoretest.Read, 0, 1, objectstoretest.Hang())
	f.want(f.url("x"), "x")
}

func stallBody(f *faulty) {
	f.put(f.url("x"), string(pattern(10_000)))
	f.options(httpstore.Options{IdleTimeout: short})
	r := f.open(f.url("x"))
	f.inject(objectstoretest.Read, 0, 0, objectstoretest.StallBody(10))
	n, err := r.ReadAt(make([]byte, 5000), 0)
	want := "gave up after 4 tries: no more than 10 bytes of the answer for 100ms"
	if n >= 5000 || err == nil || !strings.Contains(err.Error(), want) {
		f.Errorf("got %d bytes, %v, expected %q", n, err, want)
	}
	f.wantCount(tries, objectstoretest.Read)
}

// slowBody takes longer than the idle timeout in all, but each pause is much shorter.
func slowBody(f *faulty) {
	f.options(httpstore.Options{IdleTimeout: 1500 * time.Millisecond})
	content := pattern(1600)
	f.put(f.url("x"), string(content))
	f.inject(objectstoretest.Read, 0, 1, objectstoretest.SlowBody(100, 100*time.Millisecond))
	f.wantRange(f.open(f.url("x")), content, 0, len(content))
	f.wantCount(1, objectstoretest.Read)
}

func unreachable(f *faulty) {
	store, base := f.remote.open(f.T, "http://127.0.0.1:1", httpstore.Options{Attempts: 2, Backoff: time.Millisecond})
	f.store, f.base = store, base
	_, err := f.store.List(f.Context(), f.url("*"))
	f.wantClear(err, "gave up after 2 tries", "connection refused")
	err = f.tryPut(f.url("x"), "x", objectstore.WriteOptions{IfAbsent: true})
	f.wantClear(err, "gave up after 2 tries", "connection refused")
}

func forbidden(f *faulty) {
	bucket := bucketOf(f.base)
	f.each(func(f *faulty, kind objectstoretest.Kind, do func() error) {
		f.inject(kind, 0, 0, objectstoretest.Status(http.StatusForbidden))
		err := do()
		f.wantClear(err, "permission denied: it needs ", " on bucket "+bucket)
		if !errors.Is(err, fs.ErrPermission) {
			f.Errorf("%v is no fs.ErrPermission", err)
		}
		f.wantCount(1, kind)
	})
	f.put(f.url("d", "x"), "x")
	f.inject(objectstoretest.Remove, 0, 0, objectstoretest.Status(http.StatusForbidden))
	err := f.store.RemoveAll(f.Context(), f.url("d"))
	f.wantClear(err, "permission denied: it needs ", " on bucket "+bucket)
}

func bucketOf(url string) string {
	_, path, _ := strings.Cut(url, "://")
	bucket, _, _ := strings.Cut(path, "/")
	return bucket
}

func noBucket(f *faulty) {
	bucket := "no-such-bucket"
	f.base = strings.Replace(f.base, "://"+bucketOf(f.base), "://"+bucket, 1)
	_, statErr := f.store.Stat(f.Context(), f.url("x"))
	_, openErr := f.store.Open(f.Context(), f.url("x"))
	_, listErr := f.store.List(f.Context(), f.url("*"))
	_, exactErr := f.store.List(f.Context(), f.url("x"))
	for _, err := range []error{
		statErr, openErr, listErr, exactErr,
		f.tryPut(f.url("x"), "x", objectstore.WriteOptions{}),
		f.tryPut(f.url("x"), "x", objectstore.WriteOptions{IfAbsent: true}),
		f.store.Remove(f.Context(), f.url("x")),
		f.store.RemoveAll(f.Context(), f.url("x")),
	} {
		f.wantClear(err, "there is no bucket "+bucket)
		if !errors.Is(err, fs.ErrNotExist) {
			f.Errorf("%v is no fs.ErrNotExist", err)
		}
	}
	if err := f.writeLarge(f.url("x"), pattern(largeBytes), objectstore.WriteOptions{}); err == nil {
		f.Error("a large object was written without a bucket")
	}
	if _, err := f.store.List(f.Context(), strings.Replace(f.url("x"), bucket, "buck*", 1)); err == nil {
		f.Error("a bucket with a wildcard")
	}
}

func lostAnswer(f *faulty) {
	f.inject(objectstoretest.Write, 0, 1, objectstoretest.LoseAnswer())
	if err := f.tryPut(f.url("x"), "one", objectstore.WriteOptions{IfAbsent: true}); err != nil {
		f.Errorf("if absent: %v", err)
	}
	f.want(f.url("x"), "one")
	f.faults.Clear()
	f.inject(objectstoretest.Write, 0, 1, objectstoretest.LoseAnswer())
	if err := f.tryPut(f.url("x"), "two",
		objectstore.WriteOptions{IfGeneration: f.stat(f.url("x")).Generation}); err != nil {
		f.Errorf("if generation: %v", err)
	}
	f.want(f.url("x"), "two")
	f.faults.Clear()
	f.inject(objectstoretest.Write, 0, 1, objectstoretest.LoseAnswer())
	f.put(f.url("x"), "three")
	f.want(f.url("x"), "three")
}

// lostAnswerLarge loses the answer to each step of an upload in turn.
func lostAnswerLarge(f *faulty) {
	content := pattern(largeBytes)
	if err := f.writeLarge(f.url("count"), content, objectstore.WriteOptions{}); err != nil {
		f.Fatal(err)
	}
	steps := f.faults.Count(objectstoretest.Write)
	if steps < 3 {
		f.Fatalf("%d requests, expected more", steps)
	}
	for step := range steps {
		url := f.url(strconv.Itoa(step))
		f.faults.Clear()
		f.inject(objectstoretest.Write, step, 1, objectstoretest.LoseAnswer())
		if err := f.writeLarge(url, content, objectstore.WriteOptions{IfAbsent: true}); err != nil {
			f.Errorf("step %d of %d: %v", step+1, steps, err)
			continue
		}
		f.wantRange(f.open(url), content, 0, len(content))
	}
}

// lostAnswers loses all answers to a write, which the store does.
func lostAnswers(f *faulty) {
	f.inject(objectstoretest.Write, 0, 0, objectstoretest.LoseAnswer())
	if err := f.tryPut(f.url("x"), "one", objectstore.WriteOptions{IfAbsent: true}); err != nil {
		f.Errorf("the object is there, got %v", err)
	}
	f.want(f.url("x"), "one")
	f.inject(objectstoretest.Stat, 0, 0, objectstoretest.Status(503))
	err := f.tryPut(f.url("y"), "one", objectstore.WriteOptions{IfAbsent: true})
	f.wantClear(err, "gave up after 4 tries")
}

func lostRemove(f *faulty) {
	f.put(f.url("x"), "x")
	f.put(f.url("d", "y"), "y")
	f.inject(objectstoretest.Remove, 0, 1, objectstoretest.LoseAnswer())
	if err := f.store.Remove(f.Context(), f.url("x")); err != nil {
		f.Error(err)
	}
	f.faults.Clear()
	f.inject(objectstoretest.Remove, 0, 1, objectstoretest.LoseAnswer())
	if err := f.store.RemoveAll(f.Context(), f.url("d")); err != nil {
		f.Error(err)
	}
	f.wantFiles("**")
}

// lostRace checks that a repeated write does not take another writer's object for its own.
func lostRace(f *faulty) {
	f.put(f.url("x"), "theirs")
	f.inject(objectstoretest.Write, 0, 1, objectstoretest.Status(503))
	f.wantError(f.tryPut(f.url("x"), "ours", objectstore.WriteOptions{IfAbsent: true}), fs.ErrExist, f.url("x"))
	f.faults.Clear()
	f.inject(objectstoretest.Write, 0, 1, objectstoretest.LoseAnswer())
	f.wantError(f.tryPut(f.url("x"), "theirs", objectstore.WriteOptions{IfAbsent: true}), fs.ErrExist, f.url("x"))
	f.want(f.url("x"), "theirs")
}

func failedWrite(f *faulty) {
	f.put(f.url("old"), "old")
	f.inject(objectstoretest.Write, 0, 0, objectstoretest.Status(503))
	for _, o := range []objectstore.WriteOptions{{}, {IfAbsent: true}} {
		f.wantClear(f.tryPut(f.url("x"), "content", o), "503 Service Unavailable")
		f.want(f.url("x"), "-")
	}
	f.wantClear(f.tryPut(f.url("old"), "new", objectstore.WriteOptions{}), "503 Service Unavailable")
	f.want(f.url("old"), "old")
}

// failedWriteLarge lets each step of an upload fail in turn, with all its tries.
func failedWriteLarge(f *faulty) {
	content := pattern(largeBytes)
	f.put(f.url("old"), "old")
	f.faults.Clear()
	if err := f.writeLarge(f.url("count"), content, objectstore.WriteOptions{}); err != nil {
		f.Fatal(err)
	}
	steps := f.faults.Count(objectstoretest.Write)
	for step := range steps {
		for _, effect := range []objectstoretest.Effect{objectstoretest.Status(503), objectstoretest.Reset()} {
			f.faults.Clear()
			f.inject(objectstoretest.Write, step, 0, effect)
			err := f.writeLarge(f.url("old"), content, objectstore.WriteOptions{})
			f.wantClear(err, "gave up after 4 tries")
			f.want(f.url("old"), "old")
		}
	}
	f.faults.Clear()
	f.wantFiles("**", "count", "old")
}

func abortLarge(f *faulty) {
	f.put(f.url("old"), "old")
	content := pattern(largeBytes)
	w := f.create(f.url("old"), objectstore.WriteOptions{})
	if _, err := w.Write(content); err != nil {
		f.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		f.Error(err)
	}
	f.want(f.url("old"), "old")
}

func conditionsLarge(f *faulty) {
	content := pattern(largeBytes)
	url := f.url("x")
	if err := f.writeLarge(url, content, objectstore.WriteOptions{IfAbsent: true}); err != nil {
		f.Fatal(err)
	}
	first := f.stat(url).Generation
	f.wantError(f.writeLarge(url, content[1:], objectstore.WriteOptions{IfAbsent: true}), fs.ErrExist, url)
	f.wantError(f.writeLarge(url, content[1:], objectstore.WriteOptions{IfGeneration: "1"}), fs.ErrExist, url)
	if err := f.writeLarge(url, content[1:], objectstore.WriteOptions{IfGeneration: first}); err != nil {
		f.Fatal(err)
	}
	f.wantError(f.writeLarge(url, content, objectstore.WriteOptions{IfGeneration: first}), fs.ErrExist, url)
	f.wantRange(f.open(url), content[1:], 0, len(content)-1)
}

// during cancels a context at the first request with the effect.
func (f *faulty) during(kind objectstoretest.Kind, skip int, effect objectstoretest.Effect) context.Context {
	ctx, cancel := context.WithCancel(f.Context())
	f.Cleanup(cancel)
	f.faults.Inject(objectstoretest.Fault{
		Kinds: []objectstoretest.Kind{kind}, Skip: skip,
		Effect: func(w http.ResponseWriter, r *http.Request, store http.Handler, ended <-chan struct{}) {
			cancel()
			effect(w, r, store, ended)
		},
	})
	return ctx
}

func cancelRead(f *faulty) {
	f.put(f.url("x"), string(pattern(10_000)))
	o := f.stat(f.url("x"))
	for name, effect := range map[string]objectstoretest.Effect{"unanswered": objectstoretest.Hang(), "in the body": objectstoretest.StallBody(100)} {
		f.faults.Clear()
		r, err := f.store.OpenObject(f.during(objectstoretest.Read, 0, effect), o)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := r.ReadAt(make([]byte, 5000), 0); !errors.Is(err, context.Canceled) {
			f.Errorf("%s: got %v, expected %v", name, err, context.Canceled)
		}
	}
	f.faults.Clear()
	_, err := f.store.List(f.during(objectstoretest.List, 0, objectstoretest.Hang()), f.url("*"))
	f.wantError(err, context.Canceled, f.base)
}

func cancelWrite(f *faulty) {
	f.put(f.url("x"), "old")
	content := pattern(largeBytes)
	for _, size := range []int{1000, largeBytes} {
		for skip := range 2 {
			if skip > 0 && size == 1000 {
				continue // a small object has a single request
			}
			f.faults.Clear()
			w, err := f.store.Create(f.during(objectstoretest.Write, skip, objectstoretest.Hang()), f.url("x"), objectstore.WriteOptions{})
			if err != nil {
				f.Fatal(err)
			}
			_, err = w.Write(content[:size])
			if err == nil {
				err = w.Commit()
			}
			f.wantError(err, context.Canceled, f.url("x"))
			_ = w.Abort() // a second call after Commit
			f.want(f.url("x"), "old")
		}
	}
}

// cancelPause cancels while a driver waits for the next try.
func cancelPause(f *faulty) {
	f.put(f.url("x"), "x")
	store, _ := f.remote.open(f.T, f.faults.URL,
		httpstore.Options{Attempts: 2, BusyAttempts: 2, Backoff: time.Hour, MaxBackoff: time.Hour})
	for kind, do := range map[objectstoretest.Kind]func(context.Context) error{
		objectstoretest.Stat: func(ctx context.Context) error { _, err := store.Stat(ctx, f.url("x")); return err },
		objectstoretest.List: func(ctx context.Context) error { _, err := store.List(ctx, f.url("*")); return err },
		objectstoretest.Read: func(ctx context.Context) error { _, err := store.ReadAll(ctx, f.url("x"), 0); return err },
	} {
		for _, effect := range []objectstoretest.Effect{objectstoretest.Status(503), objectstoretest.ShortBody(1)} {
			if kind != objectstoretest.Read {
				effect = objectstoretest.Status(503)
			}
			f.faults.Clear()
			f.inject(kind, 0, 0, effect)
			ctx, cancel := context.WithTimeout(f.Context(), short)
			if err := do(ctx); !errors.Is(err, context.DeadlineExceeded) {
				f.Errorf("%s: got %v, expected %v", kind, err, context.DeadlineExceeded)
			}
			cancel()
		}
	}
}

// concurrentReads reads one object from many goroutines. The first request for each range
// fails in one of several ways.
func concurrentReads(f *faulty) {
	content := pattern(1 << 20)
	f.put(f.url("x"), string(content))
	r := f.open(f.url("x"))
	effects := []objectstoretest.Effect{objectstoretest.Status(503), objectstoretest.Reset(), objectstoretest.CutBody(1000), objectstoretest.ShortBody(7), objectstoretest.Latency(time.Millisecond)}
	var seen sync.Map // ends of ranges; a request for the rest of a range has the same end
	var n atomic.Int64
	f.faults.Inject(objectstoretest.Fault{
		Kinds: []objectstoretest.Kind{objectstoretest.Read},
		Match: func(r *http.Request) bool {
			_, end, _ := strings.Cut(r.Header.Get("Range"), "-")
			_, again := seen.LoadOrStore(end, true)
			return !again
		},
		Effect: func(w http.ResponseWriter, r *http.Request, store http.Handler, ended <-chan struct{}) {
			effects[n.Add(1)%int64(len(effects))](w, r, store, ended)
		},
	})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for j := range 8 {
				off := (i*8 + j) * 4096
				b := make([]byte, 4096)
				if _, err := r.ReadAt(b, int64(off)); err != nil && !errors.Is(err, io.EOF) ||
					!bytes.Equal(b, content[off:off+4096]) {
					f.Errorf("at %d: %v", off, err)
				}
			}
		})
	}
	wg.Wait()
	if n.Load() != 256 {
		f.Errorf("%d ranges were struck, expected 256", n.Load())
	}
}

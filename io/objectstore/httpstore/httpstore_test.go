package httpstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

func TestDefaults(t *testing.T) {
	got := httpstore.Options{}.WithDefaults()
	want := httpstore.Options{
		Attempts: 8, BusyAttempts: 36, RetryTime: 3 * time.Minute, IdleTimeout: 30 * time.Second,
		Backoff: 200 * time.Millisecond, MaxBackoff: 10 * time.Second,
	}
	if got != want {
		t.Errorf("got %+v, expected %+v", got, want)
	}
}

func TestPause(t *testing.T) {
	o := httpstore.Options{Backoff: 100, MaxBackoff: 500}.WithDefaults()
	for failures, limit := range map[int]time.Duration{0: 100, 1: 100, 2: 200, 3: 400, 4: 500, 50: 500, 1000: 500} {
		for range 100 {
			if d := o.Pause(failures); d < limit/2 || d > limit {
				t.Fatalf("after %d failures: %d, expected %d to %d", failures, d, limit/2, limit)
			}
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		key, prefix string
		depth       int
		want        bool
	}{
		{"a/x", "a/", 1, true},
		{"a/b/x", "a/", 1, false},
		{"a/b/x", "a/", 2, true},
		{"a/b/x", "a/", -1, true},
		{"a/b/", "a/", -1, false},
		{"a/", "a/", -1, false},
		{"x", "", 1, true},
		{"b/x", "a/", -1, false},
	} {
		if got := httpstore.Within(c.key, c.prefix, c.depth); got != c.want {
			t.Errorf("Within(%q, %q, %d) = %v", c.key, c.prefix, c.depth, got)
		}
	}
}

func TestSplitPath(t *testing.T) {
	for path, want := range map[string][2]string{
		"b": {"b", ""}, "b/": {"b", ""}, "b/x": {"b", "x"}, "b/x/y": {"b", "x/y"}, "b//x": {"b", "/x"}, "": {"", ""},
	} {
		if bucket, key := httpstore.SplitPath(path); bucket != want[0] || key != want[1] {
			t.Errorf("SplitPath(%q) = %q, %q", path, bucket, key)
		}
	}
}

func TestTransient(t *testing.T) {
	inURL := func(err error) error { return &url.Error{Op: "Get", URL: "http://x/", Err: err} }
	dial := func(err error) error { return inURL(&net.OpError{Op: "dial", Net: "tcp", Err: err}) }
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("other"), false},
		{io.EOF, false},
		{inURL(io.EOF), true},
		{inURL(io.ErrUnexpectedEOF), true},
		{dial(syscall.ECONNREFUSED), true},
		{inURL(fmt.Errorf("write: %w", syscall.EPIPE)), true},
		{inURL(&net.DNSError{IsNotFound: true, IsTemporary: true}), false},
		{inURL(&net.DNSError{IsTimeout: true}), true},
		{inURL(context.Canceled), false},
		{inURL(context.DeadlineExceeded), false},
		{&httpstore.IdleError{What: "no answer", Idle: time.Second}, true},
		{&httpstore.LengthError{Want: 1}, true},
		{&httpstore.GaveUpError{Tries: 2, Err: &httpstore.IdleError{}}, false},
	} {
		if got := httpstore.Transient(c.err); got != c.want {
			t.Errorf("Transient(%v) = %v", c.err, got)
		}
	}
}

func TestReason(t *testing.T) {
	nested := &url.Error{Op: "Get", URL: "http://x/", Err: &url.Error{Op: "Get", URL: "http://y/", Err: io.EOF}}
	for want, err := range map[string]error{
		"the store closed the connection without an answer": nested,
		"the answer was cut short":                          fmt.Errorf("read: %w", io.ErrUnexpectedEOF),
		"first line":                                        errors.New("first line \nsecond"),
		"gave up after 3 tries: the store answered 503 Service Unavailable": &url.Error{
			Err: &httpstore.GaveUpError{Tries: 3, Err: &httpstore.StatusError{Code: 503}},
		},
		"no answer for 1s": &httpstore.GaveUpError{
			Tries: 1,
			Err:   &httpstore.IdleError{What: "no answer", Idle: time.Second},
		},
	} {
		if got := httpstore.Reason(err); got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
	if got := httpstore.OneLine(strings.Repeat("ä", 1000)); len(got) > 310 || !strings.HasSuffix(got, "ä...") {
		t.Errorf("got %q of %d bytes", got, len(got))
	}
}

// TestReaderKeepsWhatItGot reads by requests whose answers end early.
func TestReaderKeepsWhatItGot(t *testing.T) {
	const content = "0123456789"
	var asked []string
	fetch := func(_ context.Context, off, length int64) (io.ReadCloser, int64, error) {
		asked = append(asked, fmt.Sprintf("%d+%d", off, length))
		body := io.MultiReader(strings.NewReader(content[off:min(off+4, off+length)]), failing{})
		if off+length <= off+4 {
			body = strings.NewReader(content[off : off+length])
		}
		return io.NopCloser(body), length, nil
	}
	o := httpstore.Options{Backoff: time.Nanosecond}
	r := httpstore.NewReader(t.Context(), objectstore.Object{Size: 10, Generation: "g"}, o, fetch,
		func(err error) error { return err })
	b := make([]byte, 20)
	n, err := r.ReadAt(b, 1)
	if string(b[:n]) != content[1:] || !errors.Is(err, io.EOF) {
		t.Errorf("got %q, %v", b[:n], err)
	}
	if got := fmt.Sprint(asked); got != "[1+9 5+5 9+1]" {
		t.Errorf("asked for %s", got)
	}
	asked = nil
	for _, off := range []int64{-1, 10, 11} {
		if n, err := r.ReadAt(b, off); n != 0 || err == nil {
			t.Errorf("at %d: %d, %v", off, n, err)
		}
	}
	if n, err := r.ReadAt(nil, 3); n != 0 || err != nil {
		t.Errorf("no bytes: %d, %v", n, err)
	}
	if len(asked) > 0 {
		t.Errorf("asked for %s, expected nothing", asked)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestWithoutTries sends a request without an operation, as SDKs do for tokens: the
// transport watches it, but does not count its tries.
func TestWithoutTries(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	client := &http.Client{Transport: httpstore.Transport(httpstore.Options{
		Attempts:    1,
		IdleTimeout: 100 * time.Millisecond,
	})}
	get := func(path string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return client.Do(r)
	}
	for range 3 {
		answer, err := get("/")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // empty
		if answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("got %s", answer.Status)
		}
	}
	answer, err := get("/hang")
	if err == nil {
		_ = answer.Body.Close() // empty
	}
	if idle := (*httpstore.IdleError)(nil); !errors.As(err, &idle) {
		t.Errorf("got %v, expected an IdleError", err)
	}
}

// TestRetryTime checks that the retry time may end an operation before the number of
// failures does.
func TestRetryTime(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	o := httpstore.Options{Attempts: 1000, RetryTime: time.Nanosecond}
	client := &http.Client{Transport: httpstore.Transport(o)}
	ctx := httpstore.Begin(t.Context(), o)
	for range 3 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err == nil {
			_ = answer.Body.Close() // empty
			continue
		}
		if gaveUp := (*httpstore.GaveUpError)(nil); !errors.As(err, &gaveUp) {
			t.Errorf("got %v, expected a GaveUpError", err)
		}
		if !httpstore.Retried(ctx) {
			t.Error("nothing was retried")
		}
		return
	}
	t.Error("the time did not end the tries")
}

// Package objectstoretest starts emulators of object stores, and puts proxies with faults in front of them,
// for tests.
package objectstoretest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Kind is the kind of a request to an object store.
type Kind string

// The kinds of requests. An upload in pieces is several requests of kind Write.
const (
	Read   Kind = "read"   // the bytes of an object
	Stat   Kind = "stat"   // size and generation of an object
	List   Kind = "list"   // a page of a listing
	Write  Kind = "write"  // an object, or a step of an upload
	Remove Kind = "remove" // one or more objects
	Other  Kind = "other"
)

// KindOf returns the kind of a request in the JSON API of Cloud Storage, or in the protocol
// of S3 with the bucket in the path.
func KindOf(r *http.Request) Kind {
	q := r.URL.Query()
	if isGoogle(r) {
		return googleKind(r, q)
	}
	_, key, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.Method == http.MethodGet && q.Has("list-type"):
		return List
	case r.Method == http.MethodGet && key != "" && !q.Has("uploadId"):
		return Read
	case r.Method == http.MethodHead && key != "":
		return Stat
	case r.Method == http.MethodPost && q.Has("delete"), r.Method == http.MethodDelete && !q.Has("uploadId"):
		return Remove
	case r.Method == http.MethodPut, r.Method == http.MethodPost:
		return Write
	default:
		return Other
	}
}

func isGoogle(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/storage/v1/") || strings.HasPrefix(r.URL.Path, "/upload/storage/v1/")
}

func googleKind(r *http.Request, q url.Values) Kind {
	_, object, isObject := strings.Cut(r.URL.Path, "/o/")
	switch {
	case strings.HasPrefix(r.URL.Path, "/upload/"):
		return Write
	case r.Method == http.MethodGet && q.Get("alt") == "media":
		return Read
	case r.Method == http.MethodGet && isObject && object != "":
		return Stat
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/o"):
		return List
	case r.Method == http.MethodDelete:
		return Remove
	default:
		return Other
	}
}

// Request is a proxy's record of a request.
type Request struct {
	Kind     Kind
	Method   string
	Path     string // path of the URL, without the query
	Range    string // the header
	Status   int    // status of the answer; 0 for no answer
	Sent     int64  // bytes of the body sent to the store
	Received int64  // bytes of the answer sent to the client
}

// Fault applies an effect to some requests. The zero value applies it to all.
type Fault struct {
	Kinds  []Kind                     // kinds of the requests; none: all
	Match  func(r *http.Request) bool // further condition on the requests; may be nil
	Skip   int                        // number of such requests without the effect
	Times  int                        // number of such requests with the effect; 0: all further requests
	Effect Effect
}

// injected is a fault with its count of requests.
type injected struct {
	Fault
	seen int
}

// strikes counts a request, and reports whether the effect applies to it.
func (i *injected) strikes(kind Kind, r *http.Request) bool {
	if len(i.Kinds) > 0 && !slices.Contains(i.Kinds, kind) || i.Match != nil && !i.Match(r) {
		return false
	}
	i.seen++
	return i.seen > i.Skip && (i.Times == 0 || i.seen <= i.Skip+i.Times)
}

// Faults is a proxy in front of an object store. It counts requests, and applies the
// effects of injected faults. It is safe for concurrent use.
//
//	faults := objectstoretest.NewFaults(t, objectstoretest.StartGCS(t, "bucket"))
//	objectstoretest.UseGCS(t, faults.URL)
//	faults.Inject(objectstoretest.Fault{
//		Kinds: []objectstoretest.Kind{objectstoretest.Read}, Times: 2,
//		Effect: objectstoretest.CutBody(100),
//	})
type Faults struct {
	URL string // URL of the proxy

	proxy *httputil.ReverseProxy
	ended chan struct{}

	mu       sync.Mutex
	faults   []*injected
	requests []*record
}

// record is a Request in progress.
type record struct {
	kind               Kind
	method, path, rnge string
	status             atomic.Int64
	sent, received     atomic.Int64
}

// NewFaults starts a proxy before the store with the given URL, until the test
// ends.
func NewFaults(tb testing.TB, target string) *Faults {
	tb.Helper()
	to, err := url.Parse(target)
	if err != nil {
		tb.Fatal(err)
	}
	f := &Faults{ended: make(chan struct{})}
	f.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // the host is signed, and is part of URLs in answers
		},
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewServer(f)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.URL = server.URL
	tb.Cleanup(func() {
		close(f.ended)
		server.CloseClientConnections()
		server.Close()
	})
	return f
}

// Inject adds a fault. If several apply to a request, the effect of the first is the
// outermost.
func (f *Faults) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &injected{Fault: fault})
}

// Clear removes all faults and all records of requests.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
	f.requests = nil
}

// Requests returns the requests of the given kinds, or all of them, in the
// order in which they began.
func (f *Faults) Requests(kinds ...Kind) []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []Request
	for _, r := range f.requests {
		if len(kinds) > 0 && !slices.Contains(kinds, r.kind) {
			continue
		}
		found = append(found, Request{
			Kind: r.kind, Method: r.method, Path: r.path, Range: r.rnge,
			Status: int(r.status.Load()), Sent: r.sent.Load(), Received: r.received.Load(),
		})
	}
	return found
}

// Count returns the number of requests of the given kinds, or of all.
func (f *Faults) Count(kinds ...Kind) int { return len(f.Requests(kinds...)) }

// Bytes returns the number of bytes sent to the store and received by the client, in the
// bodies of requests of the given kinds, or of all.
func (f *Faults) Bytes(kinds ...Kind) (sent, received int64) {
	for _, r := range f.Requests(kinds...) {
		sent += r.Sent
		received += r.Received
	}
	return sent, received
}

// ServeHTTP implements http.Handler.
func (f *Faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := &record{kind: KindOf(r), method: r.Method, path: r.URL.Path, rnge: r.Header.Get("Range")}
	handler := http.Handler(f.proxy)
	for _, effect := range slices.Backward(f.begin(seen, r)) {
		inner := handler
		handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			effect(w, r, inner, f.ended)
		})
	}
	r.Body = &counted{r.Body, &seen.sent}
	handler.ServeHTTP(&tap{ResponseWriter: w, seen: seen}, r)
}

// begin records a request, and returns the effects for it.
func (f *Faults) begin(seen *record, r *http.Request) []Effect {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, seen)
	var effects []Effect
	for _, fault := range f.faults {
		if fault.strikes(seen.kind, r) {
			effects = append(effects, fault.Effect)
		}
	}
	return effects
}

type counted struct {
	io.ReadCloser
	n *atomic.Int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// tap records an answer.
type tap struct {
	http.ResponseWriter
	seen *record
}

// Unwrap lets an http.ResponseController find Flush.
func (t *tap) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (t *tap) WriteHeader(status int) {
	t.seen.status.Store(int64(status))
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *tap) Write(p []byte) (int, error) {
	n, err := t.ResponseWriter.Write(p)
	t.seen.received.Add(int64(n))
	return n, err
}

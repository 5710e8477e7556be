package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// gcs corrects the differences of the emulator.
type gcs struct {
	fake    *fakestorage.Server
	handler http.Handler // of fake

	mu      sync.Mutex
	uploads map[string]*upload // by their id
}

// newGCS returns fake-gcs-server with the given buckets, to be served at the URL.
func newGCS(url string, buckets []string) (http.Handler, error) {
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		NoListener: true, Scheme: "http", ExternalURL: url,
		PublicHost: strings.TrimPrefix(url, "http://"), // needed by downloads by the XML API
	})
	if err != nil {
		return nil, err
	}
	for _, name := range buckets {
		fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: name})
	}
	return &gcs{fake: fake, handler: fake.HTTPHandler(), uploads: make(map[string]*upload)}, nil
}

// upload is the state of a resumable upload.
type upload struct {
	mu    sync.Mutex
	have  int64                      // number of bytes received
	final *httptest.ResponseRecorder // the answer to the last piece
}

// ServeHTTP implements http.Handler.
func (g *gcs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("upload_id")
	switch {
	case id != "" && r.Method != http.MethodDelete:
		g.piece(w, r, id)
	case r.URL.Query().Get("alt") == "media":
		g.handler.ServeHTTP(w, r)
	default:
		answer := httptest.NewRecorder()
		g.handler.ServeHTTP(answer, r)
		if answer.Code == http.StatusNotFound {
			g.notFound(answer, r)
		}
		send(w, answer)
	}
}

func send(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the client may be gone
}

var contentRange = regexp.MustCompile(`^bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)$`)

// piece passes on the new bytes of a piece. It repeats the answer to the last piece for
// every further try.
func (g *gcs) piece(w http.ResponseWriter, r *http.Request, id string) {
	u := g.upload(id)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.final != nil {
		send(w, u.final)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone: the piece does not count
	}
	m := contentRange.FindStringSubmatch(r.Header.Get("Content-Range"))
	if len(m) > 0 && m[1] != "" {
		start, _ := strconv.ParseInt(m[1], 10, 64)
		end := start + int64(len(body))
		body = body[min(max(0, u.have-start), int64(len(body))):]
		u.have = max(u.have, end)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	answer := httptest.NewRecorder()
	g.handler.ServeHTTP(answer, r)
	if answer.Header().Get("X-Http-Status-Code-Override") != "308" {
		u.final = answer
	}
	send(w, answer)
}

func (g *gcs) upload(id string) *upload {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.uploads[id]
	if u == nil {
		u = new(upload)
		g.uploads[id] = u
	}
	return u
}

var bucketPath = regexp.MustCompile(`/storage/v1/b/([^/]+)`)

// notFound sets Cloud Storage's sentence for a missing bucket or object.
func (g *gcs) notFound(answer *httptest.ResponseRecorder, r *http.Request) {
	m := bucketPath.FindStringSubmatch(r.URL.Path)
	if m == nil {
		return
	}
	message := "No such object: " + strings.TrimPrefix(r.URL.Path, m[0]+"/o/")
	if _, err := g.fake.Backend().GetBucket(m[1]); err != nil {
		message = "The specified bucket does not exist."
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{"code": answer.Code, "message": message}})
	if err != nil {
		panic(fmt.Sprintf("a map of strings: %v", err))
	}
	answer.Body = bytes.NewBuffer(body)
	answer.Header().Del("Content-Length")
}

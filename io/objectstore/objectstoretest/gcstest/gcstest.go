// Package gcstest runs fake-gcs-server, an emulator of Cloud Storage, in the
// process of a test.
//
// # Differences to Cloud Storage
//
// The suite and the tests of faults found these differences of v1.56.1. A handler in front
// of the emulator corrects them:
//
//   - The emulator appends a piece of a resumable upload again if it is sent again.
//     Cloud Storage ignores bytes that it already has.
//   - If the last piece is sent again, the emulator finds no upload. Cloud Storage answers
//     with the object.
//   - The emulator says "Not Found" of a missing bucket and of a missing object. Cloud
//     Storage has a sentence for each.
//
// Rights, quotas, soft deletion and appendable objects remain without emulation.
package gcstest

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
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// Start runs an emulator with the given buckets until the test ends, and
// returns its URL.
func Start(tb testing.TB, buckets ...string) string {
	tb.Helper()
	c := &conforming{uploads: make(map[string]*upload)}
	server := httptest.NewServer(c)
	host := strings.TrimPrefix(server.URL, "http://")
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		NoListener: true, Scheme: "http", ExternalURL: server.URL,
		PublicHost: host, // needed by downloads by the XML API
	})
	if err != nil {
		server.Close()
		tb.Fatal(err)
	}
	for _, name := range buckets {
		fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: name})
	}
	c.mu.Lock()
	c.fake = fake
	c.mu.Unlock()
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		fake.Stop()
	})
	return server.URL
}

// Use directs drivers created later in this test to the server at the given URL: an
// emulator, or a proxy in front of one.
func Use(tb testing.TB, url string) {
	tb.Helper()
	tb.Setenv("STORAGE_EMULATOR_HOST", url)
}

// conforming corrects the differences of the emulator.
type conforming struct {
	mu      sync.Mutex
	fake    *fakestorage.Server
	uploads map[string]*upload // by their id
}

// upload is the state of a resumable upload.
type upload struct {
	mu    sync.Mutex
	have  int64                      // number of bytes received
	final *httptest.ResponseRecorder // the answer to the last piece
}

// ServeHTTP implements http.Handler.
func (c *conforming) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	handler := c.fake.HTTPHandler()
	c.mu.Unlock()
	id := r.URL.Query().Get("upload_id")
	switch {
	case id != "" && r.Method != http.MethodDelete:
		c.piece(w, r, handler, id)
	case r.URL.Query().Get("alt") == "media":
		handler.ServeHTTP(w, r)
	default:
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		if answer.Code == http.StatusNotFound {
			c.notFound(answer, r)
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
func (c *conforming) piece(w http.ResponseWriter, r *http.Request, handler http.Handler, id string) {
	u := c.upload(id)
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
	handler.ServeHTTP(answer, r)
	if answer.Header().Get("X-Http-Status-Code-Override") != "308" {
		u.final = answer
	}
	send(w, answer)
}

func (c *conforming) upload(id string) *upload {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.uploads[id]
	if u == nil {
		u = new(upload)
		c.uploads[id] = u
	}
	return u
}

var bucketPath = regexp.MustCompile(`/storage/v1/b/([^/]+)`)

// notFound sets Cloud Storage's sentence for a missing bucket or object.
func (c *conforming) notFound(answer *httptest.ResponseRecorder, r *http.Request) {
	m := bucketPath.FindStringSubmatch(r.URL.Path)
	if m == nil {
		return
	}
	message := "No such object: " + strings.TrimPrefix(r.URL.Path, m[0]+"/o/")
	if _, err := c.fake.Backend().GetBucket(m[1]); err != nil {
		message = "The specified bucket does not exist."
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{"code": answer.Code, "message": message}})
	if err != nil {
		panic(fmt.Sprintf("a map of strings: %v", err))
	}
	answer.Body = bytes.NewBuffer(body)
	answer.Header().Del("Content-Length")
}

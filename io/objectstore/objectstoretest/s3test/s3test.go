// Package s3test runs emulators of S3 for tests: gofakes3 in the process, and
// versitygw as a program.
//
// # Differences of gofakes3 to S3
//
// The suite and the tests of faults found these differences of v1.2.0. A handler in front
// of the emulator corrects them:
//
//   - The emulator ignores If-Match of reads.
//   - It ignores If-Match and If-None-Match of the completion of a multipart upload.
//
// Signatures, rights, regions, checksums of parts and the least size of a part remain
// without emulation.
package s3test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Start runs gofakes3 with the given buckets until the test ends, and returns
// its URL.
func Start(tb testing.TB, buckets ...string) string {
	tb.Helper()
	backend := s3mem.New()
	for _, name := range buckets {
		if err := backend.CreateBucket(name); err != nil {
			tb.Fatal(err)
		}
	}
	server := httptest.NewServer(&conforming{handler: gofakes3.New(backend).Server()})
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// Use directs drivers created later in this test to the server at the given URL: an
// emulator, or a proxy in front of one. The drivers ignore the machine's AWS settings.
func Use(tb testing.TB, url string) {
	tb.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL":            url,
		"AWS_ENDPOINT_URL_S3":         "",
		"AWS_ACCESS_KEY_ID":           AccessKey,
		"AWS_SECRET_ACCESS_KEY":       SecretKey,
		"AWS_SESSION_TOKEN":           "",
		"AWS_PROFILE":                 "",
		"AWS_REGION":                  "",
		"AWS_DEFAULT_REGION":          "",
		"AWS_CONFIG_FILE":             "/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
		"AWS_EC2_METADATA_DISABLED":   "true",
	} {
		tb.Setenv(name, value)
	}
}

// The credentials that Use sets and the emulators expect.
const (
	AccessKey = "espalier"
	SecretKey = "espalier-secret"
)

// conforming corrects the differences of the emulator.
type conforming struct {
	handler http.Handler
	writes  sync.RWMutex // makes the check and the write of a completion one step
}

// ServeHTTP implements http.Handler.
func (c *conforming) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && r.Header.Get("If-Match") != "":
		c.read(w, r)
	case r.Method == http.MethodPost && r.URL.Query().Get("uploadId") != "":
		c.complete(w, r)
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		c.handler.ServeHTTP(w, r)
	default:
		c.writes.RLock()
		defer c.writes.RUnlock()
		c.handler.ServeHTTP(w, r)
	}
}

// read checks the ETag of the answer itself, as another request might see another object.
func (c *conforming) read(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	c.handler.ServeHTTP(answer, r)
	if etag := answer.Header().Get("ETag"); answer.Code < 300 && etag != r.Header.Get("If-Match") {
		preconditionFailed(w)
		return
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the client may be gone
}

func (c *conforming) complete(w http.ResponseWriter, r *http.Request) {
	c.writes.Lock()
	defer c.writes.Unlock()
	ifMatch, ifNoneMatch := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	if ifMatch != "" || ifNoneMatch != "" {
		etag := c.etag(r)
		if ifNoneMatch == "*" && etag != "" || ifMatch != "" && etag != ifMatch {
			preconditionFailed(w)
			return
		}
	}
	c.handler.ServeHTTP(w, r)
}

// etag returns the ETag of a request's object, or "".
func (c *conforming) etag(r *http.Request) string {
	head := httptest.NewRequestWithContext(r.Context(), http.MethodHead, r.URL.EscapedPath(), http.NoBody)
	answer := httptest.NewRecorder()
	c.handler.ServeHTTP(answer, head)
	if answer.Code != http.StatusOK {
		return ""
	}
	return answer.Header().Get("ETag")
}

func preconditionFailed(w http.ResponseWriter) {
	var body bytes.Buffer
	body.WriteString(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>PreconditionFailed</Code>` +
		`<Message>At least one of the pre-conditions you specified did not hold</Message></Error>`)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusPreconditionFailed)
	_, _ = w.Write(body.Bytes()) // the client may be gone
}

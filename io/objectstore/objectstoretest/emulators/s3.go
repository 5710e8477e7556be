package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// s3 corrects the differences of the emulator.
type s3 struct {
	handler http.Handler
	writes  sync.RWMutex // makes the check and the write of a completion one step
}

// newS3 returns gofakes3 with the given buckets.
func newS3(buckets []string) (http.Handler, error) {
	backend := s3mem.New()
	for _, name := range buckets {
		if err := backend.CreateBucket(name); err != nil {
			return nil, err
		}
	}
	return &s3{handler: gofakes3.New(backend).Server()}, nil
}

// ServeHTTP implements http.Handler.
func (s *s3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && r.Header.Get("If-Match") != "":
		s.read(w, r)
	case r.Method == http.MethodPost && r.URL.Query().Get("uploadId") != "":
		s.complete(w, r)
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		s.handler.ServeHTTP(w, r)
	default:
		s.writes.RLock()
		defer s.writes.RUnlock()
		s.handler.ServeHTTP(w, r)
	}
}

// read checks the ETag of the answer itself, as another request might see another object.
func (s *s3) read(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, r)
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

func (s *s3) complete(w http.ResponseWriter, r *http.Request) {
	s.writes.Lock()
	defer s.writes.Unlock()
	ifMatch := r.Header.Get("If-Match")
	ifNoneMatch := r.Header.Get("If-None-Match")
	if ifMatch != "" || ifNoneMatch != "" {
		etag := s.etag(r)
		if ifNoneMatch == "*" && etag != "" || ifMatch != "" && etag != ifMatch {
			preconditionFailed(w)
			return
		}
	}
	s.handler.ServeHTTP(w, r)
}

// etag returns the ETag of a request's object, or "".
func (s *s3) etag(r *http.Request) string {
	head := httptest.NewRequestWithContext(r.Context(), http.MethodHead, r.URL.EscapedPath(), http.NoBody)
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, head)
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

package s3store_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
	"github.com/espalier-ml/espalier/io/usage"
)

// newStore returns a store with the driver under test for the server with the
// given URL, and a folder that no other test uses.
func newStore(t *testing.T, url string, o httpstore.Options) (store *objectstore.Store, baseURL string) {
	t.Helper()
	objectstoretest.UseS3(t, url)
	store = objectstore.New()
	store.Register("s3", s3store.New(o))
	return store, "s3://bucket/" + t.Name()
}

// largeObject is sent as two parts.
const largeObject = 9<<20 + 17

func TestNoCredentials(t *testing.T) {
	s, base := newStore(t, "http://127.0.0.1:1", httpstore.Options{})
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	_, err := s.Stat(t.Context(), base+"/x")
	if err == nil || !strings.Contains(err.Error(), "set AWS_ACCESS_KEY_ID") || len(err.Error()) > 250 {
		t.Errorf("got %v, expected a hint", err)
	}
	t.Setenv("AWS_PROFILE", "no-such-profile")
	_, err = s.Stat(t.Context(), base+"/x")
	if err == nil || !strings.Contains(err.Error(), "no-such-profile") {
		t.Errorf("got %v, expected the name of the profile", err)
	}
}

// answering starts a server with the same answer to all requests, and returns a store for
// it.
func answering(t *testing.T, status int, header map[string]string, code string) (s *objectstore.Store, base string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = fmt.Fprintf(w, `<Error><Code>%s</Code><Message>said the store.</Message></Error>`, code)
		}
	}))
	t.Cleanup(server.Close)
	return newStore(t, server.URL, httpstore.Options{})
}

// all runs operations of all kinds, and returns their errors.
func all(t *testing.T, s *objectstore.Store, base string) []error {
	t.Helper()
	url := base + "/x"
	_, statErr := s.Stat(t.Context(), url)
	_, listErr := s.List(t.Context(), base+"/*")
	w, err := s.Create(t.Context(), url, objectstore.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.OpenObject(t.Context(), objectstore.Object{URL: url, Size: 10, Generation: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	_, readErr := r.ReadAt(make([]byte, 10), 0)
	if readErr != nil {
		readErr = fmt.Errorf("read %s: %w", url, readErr)
	}
	return []error{statErr, listErr, w.Commit(), readErr, s.RemoveAll(t.Context(), url)}
}

func TestOtherRegion(t *testing.T) {
	region := map[string]string{"X-Amz-Bucket-Region": "eu-west-1"}
	for status, code := range map[int]string{
		301: "PermanentRedirect", 307: "TemporaryRedirect",
		400: "AuthorizationHeaderMalformed",
	} {
		s, base := answering(t, status, region, code)
		for _, err := range all(t, s, base) {
			if err == nil || !strings.Contains(err.Error(),
				"bucket bucket is in region eu-west-1: set AWS_REGION=eu-west-1") {
				t.Errorf("%d: got %v, expected the region", status, err)
			}
		}
	}
}

func TestRefusedCredentials(t *testing.T) {
	for code, cause := range map[string]string{
		"InvalidAccessKeyId": "credentials were refused", "SignatureDoesNotMatch": "credentials were refused",
		"ExpiredToken": "credentials have expired", "RequestTimeTooSkewed": "the clock of this machine differs",
	} {
		for _, status := range []int{http.StatusBadRequest, http.StatusForbidden} {
			s, base := answering(t, status, nil, code)
			_, listed := s.List(t.Context(), base+"/*")
			_, stat := s.Stat(t.Context(), base+"/x") // the answer to a HEAD has no body
			for _, err := range []error{listed, stat} {
				if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), cause) || usage.NatureOf(err) != usage.Usage {
					t.Errorf("%d %s: got %v", status, code, err)
				}
			}
		}
	}
}

func TestRights(t *testing.T) {
	s, base := answering(t, http.StatusForbidden, nil, "AccessDenied")
	errs := all(t, s, base)
	for i, right := range []string{"s3:GetObject", "s3:ListBucket", "s3:PutObject", "s3:GetObject", "s3:ListBucket"} {
		if !errors.Is(errs[i], fs.ErrPermission) || !strings.Contains(errs[i].Error(), right) {
			t.Errorf("got %v, expected %s in it", errs[i], right)
		}
	}
}

// TestMissingKey: a missing object does not look like a missing bucket, also with a server
// that answers 404 to a HEAD of any bucket.
func TestMissingKey(t *testing.T) {
	for listing, none := range map[string]bool{
		`<ListBucketResult><Name>bucket</Name><KeyCount>0</KeyCount></ListBucketResult>`: false,
		`<Error><Code>NoSuchBucket</Code></Error>`:                                       true,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead || none {
				w.WriteHeader(http.StatusNotFound)
			}
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, listing)
			}
		}))
		t.Cleanup(server.Close)
		s, base := newStore(t, server.URL, httpstore.Options{})
		_, err := s.Stat(t.Context(), base+"/x")
		if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "no bucket") != none {
			t.Errorf("%s: got %v", listing, err)
		}
	}
}

// TestOtherErrors checks that the store's message is passed on in one line.
func TestOtherErrors(t *testing.T) {
	s, base := answering(t, http.StatusNotImplemented, nil, "NotImplemented")
	for i, err := range all(t, s, base) {
		if err == nil || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), "the store answered 501 Not Implemented") ||
			i > 0 && !strings.Contains(err.Error(), "(said the store)") {
			t.Errorf("got %v", err)
		}
	}
}

// TestPartsAreForgotten checks that aborted, canceled and failed uploads leave no parts, for
// which the store would charge.
func TestPartsAreForgotten(t *testing.T) {
	url := objectstoretest.StartS3(t, "bucket")
	faults := objectstoretest.NewFaults(t, url)
	s, base := newStore(t, faults.URL, httpstore.Options{Attempts: 2, BusyAttempts: 2, Backoff: time.Millisecond})
	content := make([]byte, largeObject)
	end := func(name string, end func(objectstore.Writer) error) {
		t.Helper()
		w, err := s.Create(t.Context(), base+"/"+name, objectstore.WriteOptions{IfGeneration: "none"})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(content) // the test looks at the result of the whole write
		_ = end(w)
		if left := uploads(t, url); left != 0 {
			t.Errorf("%s: %d uploads are left", name, left)
		}
	}
	end("aborted", objectstore.Writer.Abort)
	end("precondition", objectstore.Writer.Commit)
	faults.Inject(objectstoretest.Fault{
		Kinds: []objectstoretest.Kind{objectstoretest.Write}, Skip: 1, Effect: objectstoretest.Status(503),
	})
	end("failed", objectstore.Writer.Commit)
}

// uploads returns the number of unfinished multipart uploads in a store.
func uploads(t *testing.T, url string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/bucket?uploads", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // read only: nothing can be lost
	var listing struct {
		XMLName xml.Name `xml:"ListMultipartUploadsResult"`
		Upload  []struct{ Key string }
	}
	if err := xml.NewDecoder(answer.Body).Decode(&listing); err != nil {
		t.Fatal(err)
	}
	return len(listing.Upload)
}

// TestConflict has a store that once refuses two concurrent writes.
func TestConflict(t *testing.T) {
	faults := objectstoretest.NewFaults(t, objectstoretest.StartS3(t, "bucket"))
	s, base := newStore(t, faults.URL, httpstore.Options{Backoff: time.Millisecond})
	refuse := func(w http.ResponseWriter, r *http.Request, _ http.Handler, _ <-chan struct{}) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `<Error><Code>ConditionalRequestConflict</Code><Message>at once</Message></Error>`)
	}
	put := func() error {
		w, err := s.Create(t.Context(), base+"/x", objectstore.WriteOptions{IfAbsent: true})
		if err != nil {
			t.Fatal(err)
		}
		return w.Commit()
	}
	faults.Inject(objectstoretest.Fault{Kinds: []objectstoretest.Kind{objectstoretest.Write}, Times: 2, Effect: refuse})
	if err := put(); err != nil {
		t.Error(err)
	}
	faults.Clear()
	faults.Inject(objectstoretest.Fault{Kinds: []objectstoretest.Kind{objectstoretest.Write}, Effect: refuse})
	if err := put(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, expected %v", err, fs.ErrExist)
	}
}

// TestFolderPlaceholders checks that a console's placeholder of a folder is no object, and
// is removed with the folder.
func TestFolderPlaceholders(t *testing.T) {
	url := objectstoretest.StartS3(t, "bucket")
	s, base := newStore(t, url, httpstore.Options{})
	for _, name := range []string{"/d/", "/d/x"} {
		path := strings.TrimPrefix(base, "s3:/") + name
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+path, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // empty
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("the emulator answered %s", answer.Status)
		}
	}
	objectstoretest.Placeholders(t, s, base, "s3://bucket")
}

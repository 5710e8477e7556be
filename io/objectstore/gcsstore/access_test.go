package gcsstore_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
)

// newStore returns a store with the driver under test for the server with the
// given URL, and a folder in it.
func newStore(t *testing.T, url string, o httpstore.Options) (store *objectstore.Store, baseURL string) {
	t.Helper()
	objectstoretest.UseGCS(t, url)
	store = objectstore.New()
	store.Register("gs", gcsstore.New(o))
	return store, "gs://bucket/folder"
}

func store(o httpstore.Options) *objectstore.Store {
	s := objectstore.New()
	s.Register("gs", gcsstore.New(o))
	return s
}

// TestNoCredentials checks that the errors name a remedy, and that a missing file of
// credentials does not look like a missing object.
func TestNoCredentials(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	for file, hint := range map[string]string{
		filepath.Join(t.TempDir(), "none.json"): "GOOGLE_APPLICATION_CREDENTIALS is set, but ",
		broken:                                  "GOOGLE_APPLICATION_CREDENTIALS is set, but ",
	} {
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
		_, err := store(httpstore.Options{}).Stat(t.Context(), "gs://bucket/x")
		if err == nil || !strings.Contains(err.Error(), hint) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, expected %q in it", err, hint)
		}
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v says that the object is missing", err)
		}
	}
}

// TestNoToken has credentials with a source of tokens that does not answer.
func TestNoToken(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`))
	}))
	defer refusing.Close()
	file := filepath.Join(t.TempDir(), "key.json")
	key := `{"type":"external_account","audience":"a","subject_token_type":"urn:ietf:params:oauth:token-type:jwt",` +
		`"token_url":"` + refusing.URL + `/token","credential_source":{"file":"` + file + `"}}`
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	_, err := store(httpstore.Options{Attempts: 1}).Stat(t.Context(), "gs://bucket/x")
	if err == nil || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), "gcloud auth application-default login") {
		t.Errorf("got %v, expected a hint", err)
	}
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v is no fs.ErrPermission", err)
	}
}

func TestUnauthorized(t *testing.T) {
	faults := objectstoretest.NewFaults(t, objectstoretest.StartGCS(t, "bucket"))
	s, base := newStore(t, faults.URL, httpstore.Options{})
	faults.Inject(objectstoretest.Fault{Effect: objectstoretest.Status(http.StatusUnauthorized)})
	_, err := s.Stat(t.Context(), base+"/x")
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "gcloud auth application-default login") {
		t.Errorf("got %v, expected a hint", err)
	}
	if n := faults.Count(); n != 1 {
		t.Errorf("%d requests, expected 1", n)
	}
}

// TestRights checks that errors name the missing permission.
func TestRights(t *testing.T) {
	faults := objectstoretest.NewFaults(t, objectstoretest.StartGCS(t, "bucket"))
	s, base := newStore(t, faults.URL, httpstore.Options{})
	faults.Inject(objectstoretest.Fault{Effect: objectstoretest.Status(http.StatusForbidden)})
	url := base + "/x"
	_, statErr := s.Stat(t.Context(), url)
	_, listErr := s.List(t.Context(), base+"/*")
	w, err := s.Create(t.Context(), url, objectstore.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for right, err := range map[string]error{
		"storage.objects.get": statErr, "storage.objects.list": listErr,
		"storage.objects.create": w.Commit(), "storage.objects.delete": s.Remove(t.Context(), url),
	} {
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), right) {
			t.Errorf("got %v, expected %s in it", err, right)
		}
	}
}

// TestLazy checks that an unused driver does no work.
func TestLazy(t *testing.T) {
	faults := objectstoretest.NewFaults(t, objectstoretest.StartGCS(t, "bucket"))
	objectstoretest.UseGCS(t, faults.URL)
	store(httpstore.Options{})
	if n := faults.Count(); n != 0 {
		t.Errorf("%d requests, expected none", n)
	}
}

// upload writes an object by a plain request, like another program.
func upload(t *testing.T, url, query string, content []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		url+"/upload/storage/v1/b/bucket/o?uploadType=media&"+query, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // read only: nothing can be lost
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the emulator answered %s", answer.Status)
	}
}

// TestFolderPlaceholders checks that a console's placeholder of a folder is no object, and
// is removed with the folder.
func TestFolderPlaceholders(t *testing.T) {
	url := objectstoretest.StartGCS(t, "bucket")
	s, base := newStore(t, url, httpstore.Options{})
	upload(t, url, "name=folder/d/", nil)
	upload(t, url, "name=folder/d/x", []byte("x"))
	objectstoretest.Placeholders(t, s, base, "gs://bucket")
}

// TestGzip checks that an object marked as gzip is read as stored.
func TestGzip(t *testing.T) {
	url := objectstoretest.StartGCS(t, "bucket")
	s, base := newStore(t, url, httpstore.Options{})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, writeErr := z.Write([]byte(strings.Repeat("content ", 100)))
	if err := errors.Join(writeErr, z.Close()); err != nil {
		t.Fatal(err)
	}
	upload(t, url, "name=folder/x&contentEncoding=gzip", packed.Bytes())
	b, err := s.ReadAll(t.Context(), base+"/x", 0)
	if err != nil || !bytes.Equal(b, packed.Bytes()) {
		t.Errorf("got %d bytes, %v, expected the %d that are stored", len(b), err, packed.Len())
	}
	r, err := s.Open(t.Context(), base+"/x")
	if err != nil {
		t.Fatal(err)
	}
	middle := make([]byte, 5)
	if _, err := r.ReadAt(middle, 3); err != nil || !bytes.Equal(middle, packed.Bytes()[3:8]) {
		t.Errorf("got % x, %v, expected % x", middle, err, packed.Bytes()[3:8])
	}
}

// TestForeignGenerations has generations that are no numbers, as of another store.
func TestForeignGenerations(t *testing.T) {
	s, base := newStore(t, objectstoretest.StartGCS(t, "bucket"), httpstore.Options{})
	for _, generation := range []string{"0", "-1", "abc"} {
		if _, err := s.OpenObject(t.Context(),
			objectstore.Object{URL: base + "/x", Generation: generation}); !errors.Is(err, objectstore.ErrChanged) {
			t.Errorf("OpenObject at %q: got %v, expected %v", generation, err, objectstore.ErrChanged)
		}
		if _, err := s.Create(t.Context(), base+"/x",
			objectstore.WriteOptions{IfGeneration: generation}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create at %q: got %v, expected %v", generation, err, fs.ErrExist)
		}
	}
}

// TestStall has a store that accepts an upload, but never reads it.
func TestStall(t *testing.T) {
	faults := objectstoretest.NewFaults(t, objectstoretest.StartGCS(t, "bucket"))
	s, base := newStore(t, faults.URL, httpstore.Options{
		Attempts: 2, IdleTimeout: 100 * time.Millisecond,
		Backoff: time.Millisecond,
	})
	faults.Inject(objectstoretest.Fault{
		Kinds: []objectstoretest.Kind{objectstoretest.Write}, Skip: 1,
		Effect: objectstoretest.Hang(),
	})
	w, err := s.Create(t.Context(), base+"/x", objectstore.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(make([]byte, 20<<20))
	if err == nil {
		err = w.Commit()
	}
	if err == nil || !strings.Contains(err.Error(), "gave up after 2 tries: no answer for 100ms") {
		t.Errorf("got %v", err)
	}
}

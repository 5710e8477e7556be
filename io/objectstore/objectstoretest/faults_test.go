package objectstoretest_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
)

const content = "0123456789"

// newFaults returns a proxy before a server with one object.
func newFaults(t *testing.T) *objectstoretest.Faults {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = io.WriteString(w, content)
	}))
	t.Cleanup(server.Close)
	return objectstoretest.NewFaults(t, server.URL)
}

// send returns the status, the body and the error of a request or of its body.
func send(t *testing.T, method, url, body string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = answer.Body.Close() }() // read only: nothing can be lost
	b, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(b), err
}

func TestEffects(t *testing.T) {
	for name, c := range map[string]struct {
		effect objectstoretest.Effect
		status int
		body   string
		err    error
	}{
		"Latency": {objectstoretest.Latency(time.Millisecond), 200, content, nil},
		"Status": {
			objectstoretest.Status(418), 418,
			"<Error><Code>InternalError</Code><Message>injected</Message></Error>", nil,
		},
		"Reset":              {objectstoretest.Reset(), 0, "", io.EOF},
		"LoseAnswer":         {objectstoretest.LoseAnswer(), 0, "", io.EOF},
		"CutBody":            {objectstoretest.CutBody(4), 200, "0123", io.ErrUnexpectedEOF},
		"CutBody at the end": {objectstoretest.CutBody(10), 200, content, nil},
		"SlowBody":           {objectstoretest.SlowBody(3, time.Millisecond), 200, content, nil},
		"FlipByte":           {objectstoretest.FlipByte(3), 200, "012\xcc456789", nil},
		"FlipByte behind":    {objectstoretest.FlipByte(10), 200, content, nil},
		"ShortBody":          {objectstoretest.ShortBody(3), 200, "0123456", nil},
		"ShortBody to none":  {objectstoretest.ShortBody(30), 200, "", nil},
		"LongBody":           {objectstoretest.LongBody(2), 200, content + "\x00\x00", nil},
	} {
		t.Run(name, func(t *testing.T) {
			faults := newFaults(t)
			faults.Inject(objectstoretest.Fault{Effect: c.effect})
			status, body, err := send(t, http.MethodGet, faults.URL+"/bucket/x", "")
			if status != c.status || body != c.body || !errors.Is(err, c.err) {
				t.Errorf("got %d, %q, %v, expected %d, %q, %v", status, body, err, c.status, c.body, c.err)
			}
		})
	}
}

func TestWhichAreStruck(t *testing.T) {
	faults := newFaults(t)
	faults.Inject(objectstoretest.Fault{
		Kinds: []objectstoretest.Kind{objectstoretest.Read}, Skip: 1, Times: 2,
		Match:  func(r *http.Request) bool { return r.URL.Path == "/bucket/x" },
		Effect: objectstoretest.Status(503),
	})
	var got []int
	for _, path := range []string{"x", "y", "x", "x", "x", "y"} {
		status, _, err := send(t, http.MethodGet, faults.URL+"/bucket/"+path, "")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, status)
	}
	if want := []int{200, 200, 503, 503, 200, 200}; !equal(got, want) {
		t.Errorf("got %d, expected %d", got, want)
	}
}

func equal(a, b []int) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestRequestCounts(t *testing.T) {
	faults := newFaults(t)
	for _, q := range []struct{ method, path, body string }{
		{http.MethodPut, "/bucket/x", "abc"},
		{http.MethodGet, "/bucket/x", ""},
		{http.MethodGet, "/bucket?list-type=2", ""},
	} {
		if _, _, err := send(t, q.method, faults.URL+q.path, q.body); err != nil {
			t.Fatal(err)
		}
	}
	if n := faults.Count(); n != 3 {
		t.Errorf("%d requests, expected 3", n)
	}
	if sent, received := faults.Bytes(objectstoretest.Write, objectstoretest.Read); sent != 3 || received != 20 {
		t.Errorf("%d bytes sent, %d received, expected 3 and 20", sent, received)
	}
	if r := faults.Requests(objectstoretest.Write); len(r) != 1 || r[0].Method != http.MethodPut ||
		r[0].Path != "/bucket/x" || r[0].Status != 200 {
		t.Errorf("got %+v", r)
	}
	faults.Clear()
	if n := faults.Count(); n != 0 {
		t.Errorf("%d requests after Clear", n)
	}
}

func TestKindOf(t *testing.T) {
	for request, want := range map[string]objectstoretest.Kind{
		"GET /storage/v1/b/bucket/o?prefix=x":                     objectstoretest.List,
		"GET /storage/v1/b/bucket/o/a%2Fb":                        objectstoretest.Stat,
		"GET /storage/v1/b/bucket/o/a%2Fb?alt=media":              objectstoretest.Read,
		"DELETE /storage/v1/b/bucket/o/x":                         objectstoretest.Remove,
		"POST /upload/storage/v1/b/bucket/o?uploadType=multipart": objectstoretest.Write,
		"GET /storage/v1/b/bucket":                                objectstoretest.Other,
		"GET /bucket?list-type=2":                                 objectstoretest.List,
		"GET /bucket/?list-type=2":                                objectstoretest.List,
		"GET /bucket/a/b":                                         objectstoretest.Read,
		"HEAD /bucket/a/b":                                        objectstoretest.Stat,
		"HEAD /bucket":                                            objectstoretest.Other,
		"PUT /bucket/x":                                           objectstoretest.Write,
		"PUT /bucket/x?partNumber=1&uploadId=1":                   objectstoretest.Write,
		"POST /bucket/x?uploads":                                  objectstoretest.Write,
		"POST /bucket/x?uploadId=1":                               objectstoretest.Write,
		"POST /bucket?delete":                                     objectstoretest.Remove,
		"DELETE /bucket/x":                                        objectstoretest.Remove,
		"DELETE /bucket/x?uploadId=1":                             objectstoretest.Other,
	} {
		method, url, _ := strings.Cut(request, " ")
		if got := objectstoretest.KindOf(httptest.NewRequestWithContext(t.Context(), method, url,
			http.NoBody)); got != want {
			t.Errorf("%s: got %s, expected %s", request, got, want)
		}
	}
}

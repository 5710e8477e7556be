package latest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// put writes a file of memory.
func put(t *testing.T, s *objectstore.Store, url, content string) {
	t.Helper()
	if _, err := objectstore.WriteSeen(t.Context(), s, url, []byte(content), objectstore.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestPromote moves LATEST.json from run to run. A program that has read an older LATEST.json moves nothing.
func TestPromote(t *testing.T) {
	ctx, s, folder, now := t.Context(), objectstore.New(), "mem://"+t.Name(), time.Now()
	for _, run := range []string{"a", "b", "c"} {
		put(t, s, folder+"/"+run+"/tree.json", "tree "+run)
	}
	if p, err := latest.Read(ctx, s, folder); p != nil || err != nil {
		t.Fatalf("%v, %v; want none", p, err)
	}
	if _, err := latest.Resolve(ctx, s, folder+"/LATEST.json"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v, want that it does not exist", err)
	}
	first, err := latest.Promote(ctx, s, folder, latest.Pointer{Run: "a", Promoted: now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := latest.Promote(ctx, s, folder, latest.Pointer{Run: "b", Promoted: now}, nil); !errors.Is(err, latest.ErrOvertaken) {
		t.Errorf("the second first promotion: %v, want ErrOvertaken", err)
	}
	other := latest.Pointer{Run: "b", Digest: tree.Digest([]byte("tree a")), Promoted: now}
	if _, err := latest.Promote(ctx, s, folder, other, first); err == nil || errors.Is(err, latest.ErrOvertaken) {
		t.Errorf("a tree with another digest than on record: %v", err)
	}
	if _, err := latest.Promote(ctx, s, folder, latest.Pointer{Run: "b", Promoted: now}, first); err != nil {
		t.Fatal(err)
	}
	if _, err := latest.Promote(ctx, s, folder, latest.Pointer{Run: "c", Promoted: now}, first); !errors.Is(err, latest.ErrOvertaken) {
		t.Errorf("a promotion after an older read: %v, want ErrOvertaken", err)
	}
	if run, err := latest.Resolve(ctx, s, folder+"/LATEST.json"); run != folder+"/b" || err != nil {
		t.Errorf("%s, %v; want b", run, err)
	}
	p, err := latest.Read(ctx, s, folder)
	if err != nil || p.Digest != tree.Digest([]byte("tree b")) || !p.Promoted.Equal(now) {
		t.Errorf("%+v, %v", p, err)
	}
	if run, err := latest.Resolve(ctx, s, folder+"/a"); run != folder+"/a" || err != nil {
		t.Errorf("%s, %v; want the run as it is", run, err)
	}
}

// TestForeign: a file of another program is refused, and so is one that leads out of its folder.
func TestForeign(t *testing.T) {
	digest := tree.Digest([]byte("tree a"))
	for _, content := range []string{
		`{}`, `no JSON`, `{"format": "espalier/latest", "version": 2, "run": "a", "tree_sha256": "` + digest + `"}`,
		`{"format": "espalier/latest", "version": 1, "run": "../a", "tree_sha256": "` + digest + `"}`,
		`{"format": "espalier/latest", "version": 1, "run": "/a", "tree_sha256": "` + digest + `"}`,
		`{"format": "espalier/latest", "version": 1, "run": "gs://b/a", "tree_sha256": "` + digest + `"}`,
		`{"format": "espalier/latest", "version": 1, "run": "", "tree_sha256": "` + digest + `"}`,
		`{"format": "espalier/latest", "version": 1, "run": "a", "tree_sha256": "` + digest[1:] + `"}`,
		`{"format": "espalier/latest", "version": 1, "run": "a"}`,
	} {
		s := objectstore.New()
		put(t, s, "mem://f/a/tree.json", "tree a")
		put(t, s, "mem://f/LATEST.json", content)
		if _, err := latest.Resolve(t.Context(), s, "mem://f/LATEST.json"); err == nil {
			t.Errorf("%s is taken", content)
		}
	}
}

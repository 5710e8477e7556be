package objectcache_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/objectcache"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// TestNamesOfBlocks: an entry whose blocks are not below the folder of the cache is refused: blocks are
// read, and removed with old windows.
func TestNamesOfBlocks(t *testing.T) {
	s := objectstore.New()
	cache := objectcache.Open(s, "mem://"+t.Name(), new(jobs.RowSpec), nil, nil, 64)
	blocks, release, err := cache.NewBlocks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	folder := blocks[:strings.LastIndexByte(blocks, '/')]
	for _, name := range []string{"../victim", "/victim", "mem://victim", "a/../../victim"} {
		entry := `{"format": "espalier/objects", "version": 4, "parts": [{"blocks": ["` + name + `"], "shards": [0]}]}`
		if err := s.Put(t.Context(), folder+"/entry-1.json", []byte(entry), objectstore.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := cache.Plan(t.Context(), nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
}

// TestKilledWriters: the next program that writes blocks removes the blocks of a killed program,
// unless their entry was written. The blocks of a running program stay.
func TestKilledWriters(t *testing.T) {
	s, url := objectstore.New(), filepath.Join(t.TempDir(), "cache")
	cache := objectcache.Open(s, url, new(jobs.RowSpec), nil, nil, 64)
	kill := func(blocks string) { // its process is gone
		at := strings.LastIndexByte(blocks, '/') + 1
		lock := blocks[:at] + "writing-" + blocks[at:] + "/_LOCK"
		b, err := os.ReadFile(lock)
		if err != nil {
			t.Fatal(err)
		}
		b = regexp.MustCompile(`"birth":"\d+"`).ReplaceAll(b, []byte(`"birth":"1"`))
		if err := os.WriteFile(lock, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var folders []string
	for range 3 {
		blocks, release, err := cache.NewBlocks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if err := s.Put(t.Context(), blocks+"/block", []byte("objects"), objectstore.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, blocks)
	}
	entry := &objectcache.Entry{Files: []objectcache.File{{URL: "day"}}}
	entry.Parts[0] = jobs.ObjectStats{Blocks: []string{folders[0] + "/block"}, Shards: []int{0}}
	if err := cache.Put(t.Context(), entry); err != nil {
		t.Fatal(err)
	}
	kill(folders[0])
	kill(folders[1])
	_, release, err := cache.NewBlocks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	for i, stays := range []bool{true, false, true} {
		if _, err := os.Stat(folders[i]); (err == nil) != stays {
			t.Errorf("folder %d stays: %v, want %v", i, err == nil, stays)
		}
	}
	if locks, _ := filepath.Glob(url + "/*/writing-*"); len(locks) != 1 {
		t.Errorf("locks %v, want that of the living program", locks)
	}
}

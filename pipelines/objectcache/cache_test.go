package objectcache_test

import (
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
	blocks := cache.NewBlocks()
	folder := blocks[:strings.LastIndexByte(blocks, '/')]
	for _, name := range []string{"../victim", "/victim", "mem://victim", "a/../../victim"} {
		entry := `{"format": "espalier/objects", "version": 3, "parts": [{"blocks": ["` + name + `"], "shards": [0]}]}`
		if err := s.Put(t.Context(), folder+"/entry-1.json", []byte(entry), objectstore.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := cache.Plan(t.Context(), nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
}

package example_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/cmd/espalier/example"
)

// TestMushroomsAreGenerated: the committed file has the bytes that the code writes.
func TestMushroomsAreGenerated(t *testing.T) {
	from := filepath.Join("..", "..", "..", "bench", "data", "mushroom", "part-00000-of-00001.parquet")
	file := filepath.Join(t.TempDir(), "mushroom.parquet")
	if err := example.Mushrooms(context.Background(), from, file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("mushroom.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("mushroom.parquet differs from what is generated: run go generate ./cmd/espalier/example")
	}
}

package example_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/cmd/espalier/example"
)

// TestEndPositions: there are 958 end positions, and x has won 626 of them (UCI Machine
// Learning Repository, Tic-Tac-Toe Endgame).
func TestEndPositions(t *testing.T) {
	columns := example.TicTacToe()
	class, ok := columns[9].Values.([]string)
	if !ok {
		t.Fatalf("classes are %T", columns[9].Values)
	}
	won := 0
	for _, c := range class {
		if c == "positive" {
			won++
		}
	}
	if len(class) != 958 || won != 626 {
		t.Errorf("%d end positions, %d won by x: want 958 and 626", len(class), won)
	}
}

// TestFilesAreGenerated: the committed files have the bytes that the code writes.
func TestFilesAreGenerated(t *testing.T) {
	letters := filepath.Join("..", "..", "..", "bench", "data", "mushroom", "part-00000-of-00001.parquet")
	for name, write := range map[string]func(ctx context.Context, url string) error{
		"tic-tac-toe.parquet": example.Write,
		"mushroom.parquet":    func(ctx context.Context, url string) error { return example.Mushrooms(ctx, letters, url) },
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := write(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what is generated: run go generate ./cmd/espalier/example", name)
		}
	}
}

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

// TestFileIsGenerated: the committed file has the bytes that the code writes.
func TestFileIsGenerated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tic-tac-toe.parquet")
	if err := example.Write(context.Background(), file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("tic-tac-toe.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("tic-tac-toe.parquet differs from what is generated: run go generate ./cmd/espalier/example")
	}
}

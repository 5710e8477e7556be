package main_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// fenced returns the blocks of a language in a document, each with the number of
// its first line.
func fenced(document, language string) map[int]string {
	blocks := make(map[int]string)
	var block []string
	from := 0
	for n, line := range strings.Split(document, "\n") {
		switch {
		case from == 0 && line == "```"+language:
			from, block = n+2, nil
		case from > 0 && line == "```":
			blocks[from], from = strings.Join(block, "\n")+"\n", 0
		case from > 0:
			block = append(block, line)
		}
	}
	return blocks
}

// TestSnippetsCompile: each block of Go in a document is a whole file, which
// compiles as it stands, and formatted.
func TestSnippetsCompile(t *testing.T) {
	longtest.Skip(t)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	replace, origin := make(map[string]string), make(map[string]string)
	// which compiles and does not link
	argv := []string{"list", "-export", "-overlay", filepath.Join(t.TempDir(), "overlay.json")}
	for path, content := range repository(t, root) {
		if filepath.Ext(path) != ".md" {
			continue
		}
		if strings.Contains(string(content), "\n    package ") || strings.Contains(string(content), "\n    import ") {
			t.Errorf("%s has indented Go: put it between ```go and ```", path)
		}
		for line, block := range fenced(string(content), "go") {
			if formatted, err := format.Source([]byte(block)); err != nil || string(formatted) != block {
				t.Errorf("%s:%d is not formatted as gofmt does: %v", path, line, err)
			}
			name := fmt.Sprintf("snippet%d", len(origin)+1)
			file := filepath.Join(t.TempDir(), name+".go")
			if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			replace[filepath.Join(root, "bench", name, name+".go")] = file // where no such folder is
			origin[file] = fmt.Sprintf("%s:%d", path, line)
			argv = append(argv, "./bench/"+name)
		}
	}
	if len(origin) < 4 {
		t.Fatalf("%d blocks of Go in all documents: docs have four", len(origin))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(argv[3], overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", argv...)
	list.Dir = root
	if out, err := list.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", origin, err, out)
	}
}

// TestSnippetRuns: the program of docs/scoring.md prints a class of the README's tree. With
// -tags long, those of docs/go.md write a tree and a run folder.
func TestSnippetRuns(t *testing.T) {
	dir := t.TempDir()
	o := espalier(t, "train", "--input", filepath.Join("example", "tic-tac-toe.parquet"), "--label", "class",
		"--max_expected_cost", "1.5", "--seed", "1", "--output", filepath.Join(dir, "runs", "tic-tac-toe"), "--folds", "0", "--certificate", "none")
	o.wants(t, 0)
	if out := runSnippet(t, "scoring.md", "runs/tic-tac-toe/tree.json", dir); !strings.HasPrefix(out, "positive [") {
		t.Errorf("it prints %q: want the class of a position with x in the middle", out)
	}
	if !longtest.Enabled() {
		return // each program takes seconds to build
	}
	runSnippet(t, "go.md", "transforms.Train(s, visits", dir)
	encoded, err := os.ReadFile(filepath.Join(dir, "tree.json"))
	if err != nil {
		t.Fatal(err)
	}
	if tr, err := tree.Decode(encoded); err != nil || tr.Training.Rows != 3 {
		t.Errorf("docs/go.md writes %.200s, error %v: want a tree of three visits", encoded, err)
	}
	if out := runSnippet(t, "go.md", "train.Train(context", dir); out != "4 rows, 3 nodes\n" {
		t.Errorf("it prints %q: want a tree with one test, the age", out)
	}
	visits(t, filepath.Join(dir, "visits"))
	if out := runSnippet(t, "go.md", "config.DefaultTrain()", dir); out != "2 leaves in runs/nightly\n" {
		t.Errorf("it prints %q: want a tree with one test, the age", out)
	}
	espalier(t, "show", filepath.Join(dir, "runs", "nightly")).wants(t, 0)
	if out := runSnippet(t, "go.md", "publish.Open(", dir); !strings.Contains(out, " promoted runs/") {
		t.Errorf("it prints %q: want a run in use", out)
	}
	trees := filepath.Join(dir, "trees")
	espalier(t, "show", filepath.Join(trees, "LATEST.json")).wants(t, 0)
	// The next night may be one of retrain.
	espalier(t, "retrain", "--input", filepath.Join(dir, "visits", "*.parquet"), "--label", "class", "--group", "id", "--ignore", "scan",
		"--destination", trees).wants(t, 0)
}

// TestNightMetadata: night.metadata.json is what the nightly job of docs/go.md prints.
func TestNightMetadata(t *testing.T) {
	longtest.Skip(t)
	got := runSnippet(t, "go.md", "publish.Open(", t.TempDir(), "--template")
	if want := string(read(t, filepath.Join("deploy", "night.metadata.json"))); got != want {
		t.Errorf("night --template prints\n%s\nwant\n%s", got, want)
	}
}

// visits writes the file of the program of docs/go.md: the class is well below an age of 50.
func visits(t *testing.T, folder string) {
	t.Helper()
	const rows = 400
	ids, classes, ages, scans := make([]int64, rows), make([]string, rows), make([]float64, rows), make([]float64, rows)
	for i := range rows {
		ids[i], classes[i], ages[i], scans[i] = int64(i), "well", float64(20+i%60), float64(i*7%11)
		if ages[i] >= 50 {
			classes[i] = "ill"
		}
	}
	file := parquet(t, parquetio.WriteOptions{},
		parquetio.WriteColumn{Name: "id", Values: ids}, parquetio.WriteColumn{Name: "class", Values: classes},
		parquetio.WriteColumn{Name: "age", Values: ages}, parquetio.WriteColumn{Name: "scan", Values: scans})
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, filepath.Join(folder, "1.parquet")); err != nil {
		t.Fatal(err)
	}
}

// snippet returns the only block of Go of a page that contains a text.
func snippet(t *testing.T, page, containing string) string {
	t.Helper()
	var blocks []string
	for _, block := range fenced(string(read(t, filepath.Join("..", "..", "docs", page))), "go") {
		if strings.Contains(block, containing) {
			blocks = append(blocks, block)
		}
	}
	if len(blocks) != 1 {
		t.Fatalf("docs/%s has %d blocks with %q, want one", page, len(blocks), containing)
	}
	return blocks[0]
}

// runSnippet builds the only block of Go of a page that contains a text, runs it in a folder
// and returns what it prints.
func runSnippet(t *testing.T, page, containing, dir string, args ...string) string {
	t.Helper()
	block := snippet(t, page, containing)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	file, overlay, binary := filepath.Join(work, "main.go"), filepath.Join(work, "overlay.json"),
		filepath.Join(work, "snippet")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "bench", "snippet",
		"main.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{file: []byte(block), overlay: replace} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./bench/snippet")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("docs/%s: %v\n%s", page, err, out)
	}
	program := exec.Command(binary, args...)
	program.Dir = dir
	out, err := program.CombinedOutput()
	if err != nil {
		t.Fatalf("docs/%s: %v\n%s", page, err, out)
	}
	return string(out)
}

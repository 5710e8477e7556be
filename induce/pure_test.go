package induce_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/espalier-ml/espalier/"

// TestPure repeats a rule of the linter: induce and the packages below it
// depend on the standard library and on each other only.
func TestPure(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 5 {
		t.Fatalf("only %d packages listed: %v", len(packages), packages)
	}
	for _, path := range packages {
		if path != module+"induce" && !strings.HasPrefix(path, module+"induce/") {
			t.Errorf("induce depends on %s", path)
		}
	}
}

// TestNoInputOutput: no file but tests imports what would do I/O, log or draw
// random numbers from a global source.
func TestNoInputOutput(t *testing.T) {
	forbidden := []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "io/ioutil", "syscall", "math/rand", "unsafe"}
	files := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if slices.Contains(forbidden, name) {
				t.Errorf("%s imports %s", path, name)
			}
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Errorf("%d files read: %v", files, err)
	}
}

// TestGoroutines: no file but those of package parallel starts goroutines: a panic in
// one that it did not start would end the process.
func TestGoroutines(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "parallel") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, _ := n.(*ast.SelectorExpr)
			if _, ok := n.(*ast.GoStmt); ok || selector != nil && selector.Sel.Name == "WaitGroup" {
				t.Errorf("%s: a goroutine, or a WaitGroup: use package parallel", set.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

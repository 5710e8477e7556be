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

// sourceFile is a parsed Go file.
type sourceFile struct {
	name string // from the folder that was walked, with slashes
	set  *token.FileSet
	tree *ast.File
}

// sources parses all Go files below a folder except tests, test kits and hidden folders. There must
// be at least least of them.
func sources(t *testing.T, root string, least int) []sourceFile {
	t.Helper()
	var files []sourceFile
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := strings.HasPrefix(entry.Name(), ".") || strings.HasSuffix(entry.Name(), "test")
			if hidden && path != root {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		files = append(files, sourceFile{filepath.ToSlash(name), set, tree})
		return err
	})
	if err != nil || len(files) < least {
		t.Fatalf("%d files read, want at least %d: %v", len(files), least, err)
	}
	return files
}

// TestPure repeats a rule of the linter: induce and the packages below it
// depend on the standard library and on each other only.
func TestPure(t *testing.T) {
	for path := range imports(t) {
		if path != module+"induce" && !strings.HasPrefix(path, module+"induce/") {
			t.Errorf("induce depends on %s", path)
		}
	}
}

// imports returns the packages of induce and all that they import from outside the
// standard library, each with all packages that it depends on.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	const format = `{{if not .Standard}}{{.ImportPath}} {{join .Deps " "}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", format, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 0 {
			packages[words[0]] = words[1:]
		}
	}
	if len(packages) < 5 {
		t.Fatalf("only %d packages listed: %v", len(packages), packages)
	}
	return packages
}

// TestArrows: the growers know the root and not each other, the root and what the growers share know no
// grower, and package tree imports neither a grower nor certify.
func TestArrows(t *testing.T) {
	packages := imports(t)
	for from, to := range map[string][]string{
		"induce":               {"induce/grow/inmemory", "induce/grow/bylevel", "induce/grow"},
		"induce/grow":          {"induce/grow/inmemory", "induce/grow/bylevel"},
		"induce/grow/inmemory": {"induce/grow/bylevel"},
		"induce/grow/bylevel":  {"induce/grow/inmemory"},
		"induce/tree":          {"induce", "induce/grow/inmemory", "induce/grow/bylevel", "induce/certify"},
	} {
		list, ok := packages[module+from]
		if !ok {
			t.Errorf("no package %s", from)
		}
		for _, path := range to {
			if slices.Contains(list, module+path) {
				t.Errorf("%s depends on %s", from, path)
			}
		}
	}
}

// TestNoInputOutput: no file but tests imports what would do I/O, log or draw
// random numbers from a global source.
func TestNoInputOutput(t *testing.T) {
	forbidden := []string{
		"os", "os/exec", "net", "net/http", "log", "log/slog", "io/ioutil", "syscall", "math/rand", "unsafe",
	}
	for _, file := range sources(t, ".", 10) {
		for _, spec := range file.tree.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if name == "unsafe" && (strings.HasPrefix(file.name, "gorows/") || strings.HasPrefix(file.name, "rowtype/")) {
				continue // it reads the fields of structs at their places: reflection takes twice as long
			}
			if slices.Contains(forbidden, name) {
				t.Errorf("%s imports %s", file.name, name)
			}
		}
	}
}

// TestGoroutines: only package parallel starts goroutines. A panic in a goroutine of
// any other package would end the process.
func TestGoroutines(t *testing.T) {
	for _, file := range sources(t, ".", 10) {
		if strings.HasPrefix(file.name, "parallel/") {
			continue
		}
		ast.Inspect(file.tree, func(n ast.Node) bool {
			selector, _ := n.(*ast.SelectorExpr)
			if _, ok := n.(*ast.GoStmt); ok || selector != nil && selector.Sel.Name == "WaitGroup" {
				t.Errorf("%s: a goroutine, or a WaitGroup: use package parallel", file.set.Position(n.Pos()))
			}
			return true
		})
	}
}

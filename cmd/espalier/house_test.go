package main_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inner is the sentence by which a package doc says that the package needs no
// example.
const inner = "It is not meant for other programs"

// folder holds the parsed Go files of one folder of the module.
type folder struct {
	path  string // from the root of the module, with slashes
	files *token.FileSet
	code  []*ast.File
	tests []*ast.File
}

// TestHouse checks every package of the module. The package and each of its
// exported names have a doc comment. Fields need none: most say by their name and
// by the comment of their struct what they hold. A public package has an example
// with an output, which go test compares. A package is public unless it lies below
// cmd or bench, its name ends in "test", or its doc contains the sentence "It is
// not meant for other programs". No test has an upper bound for the time that
// something takes: a machine may be as busy as it likes.
func TestHouse(t *testing.T) {
	folders := parseModule(t, filepath.Join("..", ".."))
	if len(folders) < 25 {
		t.Fatalf("found %d folders with Go code, fewer than the module has", len(folders))
	}
	for _, f := range folders {
		for _, fault := range f.faults() {
			t.Error(fault)
		}
	}
}

// TestHouseFindsFaults: the rules of TestHouse find code with faults.
func TestHouseFindsFaults(t *testing.T) {
	const (
		bare = `package p

type A struct{ B int }

type C int // C is told.

func (A) D() {}

func (hidden) E() {}

type hidden interface{ F() }

type G interface{ H() }

const I, J = 1, 2

var (
	// K is told.
	K = 1
	L = 1
)
`
		told = `// Package p is told. It is not meant for other programs.
package p

// A is told.
type A int
`
		silent = `package p_test

func ExampleA() {}
`
		output = `package p_test

func ExampleA() {
	// Output:
}
`
		timed = `package p_test

func TestA(t *testing.T) {
	took := time.Since(start)
	if took > time.Second || 5 <= time.Since(start).Seconds() {
		t.Error(took)
	}
	for took < time.Second && time.Since(start) < time.Minute {
	}
}
`
	)
	for _, c := range []struct {
		path, code, test string
		want             []string
	}{
		{"induce/p", told, timed, []string{
			"p_test.go:5: a test with an upper bound for a time",
			"p_test.go:5: a test with an upper bound for a time",
		}},
		{"induce/p", bare, output, []string{
			"p.go:1: package p has no doc comment",
			"p.go:3: A has no doc comment",
			"p.go:7: A.D has no doc comment",
			"p.go:13: G has no doc comment",
			"p.go:13: G.H has no doc comment",
			"p.go:15: I has no doc comment",
			"p.go:15: J has no doc comment",
			"p.go:20: L has no doc comment",
		}},
		{"induce/p", told, silent, nil},
		{"induce/p", strings.Replace(told, inner, "It is for all", 1), output, nil},
		{"induce/p", strings.Replace(told, inner, "It is for all", 1), silent, []string{
			"p.go:2: package p is public and has no example with an output",
		}},
		{"cmd/p", strings.Replace(told, inner, "It is for all", 1), silent, nil},
		{"io/ptest", strings.Replace(told, inner, "It is for all", 1), silent, nil},
	} {
		f := folder{path: c.path, files: token.NewFileSet()}
		f.parse(t, "p.go", c.code)
		f.parse(t, "p_test.go", c.test)
		if got := f.faults(); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\ngot\n%s\nwant\n%s", c.path, c.code, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestScriptsRun: a file is executable if and only if its first line names its
// interpreter, since .ci/run and the Makefile call scripts by their paths alone.
func TestScriptsRun(t *testing.T) {
	root := filepath.Join("..", "..")
	scripts := 0
	for _, below := range []string{".ci", "bench", "cmd", "docs", "induce", "io", "pipelines", "python", "transforms"} {
		err := filepath.WalkDir(filepath.Join(root, below), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Name() == "node_modules" {
				return fs.SkipDir // what npm installed
			}
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			interpreted, executable := bytes.HasPrefix(content, []byte("#!")), info.Mode()&0o100 != 0
			if interpreted {
				scripts++
			}
			if interpreted != executable {
				t.Errorf("%s: names an interpreter: %v, executable: %v; want the same of both",
					path, interpreted, executable)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if scripts < 10 {
		t.Errorf("found %d scripts, fewer than the project has", scripts)
	}
}

// parseModule parses all folders of Go code below root.
func parseModule(t *testing.T, root string) []*folder {
	t.Helper()
	var folders []*folder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name == "testdata" || path != root && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			at, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			folders = append(folders, &folder{path: filepath.ToSlash(at), files: token.NewFileSet()})
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		at := slices.IndexFunc(folders, func(f *folder) bool {
			return filepath.Join(root, filepath.FromSlash(f.path)) == filepath.Dir(path)
		})
		if at < 0 {
			return errors.New("a file outside of all folders: " + path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folders[at].parse(t, path, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(folders, func(f *folder) bool { return len(f.code) == 0 })
}

// parse adds a file to the folder.
func (f *folder) parse(t *testing.T, path, text string) {
	t.Helper()
	file, err := parser.ParseFile(f.files, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, "_test.go") {
		f.tests = append(f.tests, file)
	} else {
		f.code = append(f.code, file)
	}
}

// faults returns what the folder lacks, each with its file and line.
func (f *folder) faults() []string {
	var list []string
	add := func(at token.Pos, text string) {
		list = append(list, strings.TrimSuffix(f.place(at), ":")+": "+text)
	}
	docs := make([]string, len(f.code))
	for i, file := range f.code {
		docs[i] = file.Doc.Text()
	}
	told, name := strings.Join(docs, ""), f.code[0].Name
	if told == "" {
		add(name.Pos(), "package "+name.Name+" has no doc comment")
	}
	for _, file := range f.code {
		for _, d := range file.Decls {
			undocumented(d, add)
		}
	}
	if f.public(told) && !slices.ContainsFunc(doc.Examples(f.tests...), func(e *doc.Example) bool {
		return e.Output != "" || e.EmptyOutput
	}) {
		add(name.Pos(), "package "+name.Name+" is public and has no example with an output")
	}
	for _, file := range f.tests {
		for _, at := range timed(file) {
			add(at, "a test with an upper bound for a time")
		}
	}
	return list
}

// timed returns where the tests of a file compare with a time since a start, as t > limit or
// limit < t. Where such a time is the smaller one, a test waits or looks for haste.
func timed(file *ast.File) []token.Pos {
	var places []token.Pos
	since := make(map[string]bool) // names of such times
	found := func(x ast.Expr) (is bool) {
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				is = is || base(n.X) == "time" && n.Sel.Name == "Since"
			case *ast.Ident:
				is = is || since[n.Name]
			}
			return !is
		})
		return is
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			clear(since)
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && found(n.Rhs[0]) {
				since[base(n.Lhs[0])] = true
			}
		case *ast.BinaryExpr:
			later, earlier := n.X, n.Y
			switch n.Op {
			case token.LSS, token.LEQ:
				later, earlier = earlier, later
			case token.GTR, token.GEQ:
			default:
				return true
			}
			if found(later) && !found(earlier) {
				places = append(places, n.Pos())
			}
		}
		return true
	})
	return places
}

// place returns the file and line of a position.
func (f *folder) place(at token.Pos) string {
	p := f.files.Position(at)
	p.Column = 0
	return p.String()
}

// public reports whether other programs may use the package, given its doc.
func (f *folder) public(told string) bool {
	top, _, _ := strings.Cut(f.path, "/")
	return top != "cmd" && top != "bench" && !strings.HasSuffix(f.path, "test") &&
		!strings.Contains(strings.Join(strings.Fields(told), " "), inner)
}

// undocumented calls add for each exported name of a declaration without a doc
// comment. A comment on a group of constants or variables counts for all of the
// group, and a comment behind a name counts for the name.
func undocumented(d ast.Decl, add func(at token.Pos, text string)) {
	check := func(prefix string, names []*ast.Ident, comments ...*ast.CommentGroup) {
		if slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
			return
		}
		for _, name := range names {
			if name.IsExported() {
				add(name.Pos(), prefix+name.Name+" has no doc comment")
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if d.Recv != nil {
			receiver = base(d.Recv.List[0].Type)
			if !ast.IsExported(receiver) {
				return
			}
			receiver += "."
		}
		check(receiver, []*ast.Ident{d.Name}, d.Doc)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				check("", s.Names, d.Doc, s.Doc, s.Comment)
			case *ast.TypeSpec:
				check("", []*ast.Ident{s.Name}, d.Doc, s.Doc, s.Comment)
				for _, m := range methods(s) {
					check(s.Name.Name+".", m.Names, m.Doc, m.Comment)
				}
			}
		}
	}
}

// methods returns the methods that an exported interface type lists.
func methods(s *ast.TypeSpec) []*ast.Field {
	if x, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
		return x.Methods.List
	}
	return nil
}

// base returns the name of a receiver's type.
func base(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return base(x.X)
	case *ast.IndexExpr:
		return base(x.X)
	case *ast.IndexListExpr:
		return base(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

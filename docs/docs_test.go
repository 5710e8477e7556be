package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/docs"
)

func ExampleFind() {
	page, ok := docs.Find("glossary")
	fmt.Println(page.Title, ok)
	// Output: Glossary: the words of Espalier true
}

// TestAllPages: each file of the folder is a page, once.
func TestAllPages(t *testing.T) {
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range docs.Pages() {
		names = append(names, p.Name+".md")
	}
	slices.Sort(names)
	if !slices.Equal(names, paths) {
		t.Errorf("the pages are %q, the files %q", names, paths)
	}
}

// TestBeginnings: each page begins with what its reader can do after reading it, and with a command or a file.
func TestBeginnings(t *testing.T) {
	for _, p := range docs.Pages() {
		if p.Name == "settings" { // a reference, which is generated
			continue
		}
		before, _, ok := strings.Cut(p.Text, "\n```")
		if n := strings.Count(before, "\n"); !ok || n > 12 || !strings.Contains(before, "\n\nAfter this page you ") {
			t.Errorf("%s.md does not begin with \"After this page you ..\" and an example; %d lines lead to it", p.Name, n)
		}
	}
}

// pages returns the pages of users and the pages of developers, which are not embedded.
func pages(t *testing.T) []docs.Page {
	t.Helper()
	paths, err := filepath.Glob("dev/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d pages of developers: %v", len(paths), err)
	}
	list := docs.Pages()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		list = append(list, docs.Page{
			Name: strings.TrimSuffix(path, ".md"), Title: strings.TrimPrefix(first, "# "), Text: string(text),
		})
	}
	return list
}

// TestPages: each page begins with a heading of its own, has no line that is too wide
// for a terminal, and closes its blocks.
func TestPages(t *testing.T) {
	const page = 120    // what GitHub and editors show without scrolling
	const terminal = 80 // the usual width of a terminal
	const indent = 4    // of blocks in a terminal, and of a tab there
	titles := make(map[string]string)
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.Text, "# ") || p.Title == "" {
			t.Errorf("%s.md does not begin with a heading", p.Name)
		}
		if other, ok := titles[p.Title]; ok {
			t.Errorf("%s.md and %s.md have the same title", p.Name, other)
		}
		titles[p.Title] = p.Name
		fenced := false
		for i, line := range strings.Split(p.Text, "\n") {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			n, limit := len([]rune(strings.ReplaceAll(line, "\t", strings.Repeat(" ", indent)))), page
			if strings.HasPrefix(line, "|") || strings.HasPrefix(line, "# ") { // printed as they are
				limit = terminal
			}
			if fenced && !strings.HasPrefix(p.Name, "dev") {
				limit = terminal - indent
			}
			if n > limit {
				t.Errorf("%s.md:%d has %d characters, at most %d are wanted", p.Name, i+1, n, limit)
			}
		}
		if fenced {
			t.Errorf("%s.md: a block is not closed", p.Name)
		}
	}
	if len(titles) < 10 {
		t.Errorf("%d pages", len(titles))
	}
}

// TestArchitecture: the page for developers names each package below the four layers.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("dev/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for _, layer := range []string{"induce", "io", "pipelines", "transforms"} {
		err := filepath.WalkDir(filepath.Join("..", layer), func(path string, _ fs.DirEntry, err error) error {
			if files, _ := filepath.Glob(filepath.Join(path, "*.go")); len(files) == 0 {
				return err
			}
			packages++
			if name := filepath.Base(path); !regexp.MustCompile(`\b` + name + `\b`).Match(page) {
				t.Errorf("architecture.md does not name the package %s", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if packages < 50 {
		t.Errorf("%d packages", packages)
	}
}

func TestFindUnknown(t *testing.T) {
	if p, ok := docs.Find("nothing"); ok {
		t.Errorf("a page of nothing: %q", p.Title)
	}
}

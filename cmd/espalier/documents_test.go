package main_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cited finds what looks like a document in comments and in documentation: a
// path that ends as documents do, or a name in capitals with a section number.
var cited = regexp.MustCompile(`\bDESIGN\b|[\w./-]*\w\.(?:md|pdf|rst|adoc|docx)\b|` +
	`\b[A-Z]{4,}(?:,? (?:section|chapter)s? \d|\.(?:txt|md))`)

// TestDocumentsCited: a document that a file of the repository cites is in the
// repository, so that a reader can follow the reference.
func TestDocumentsCited(t *testing.T) {
	root := filepath.Join("..", "..")
	files := repository(t, root)
	names := make(map[string]bool)
	for path := range files {
		names[filepath.Base(path)] = true
	}
	found := 0
	for path, content := range files {
		for n, line := range strings.Split(string(content), "\n") {
			for _, name := range cited.FindAllString(prose(path, line), -1) {
				found++
				if !names[filepath.Base(name)] {
					t.Errorf("%s:%d cites %q, which is not in the repository: write what it says", path, n+1, name)
				}
			}
		}
	}
	if found < 5 { // README.md and CONTRIBUTING.md are cited at least so often
		t.Errorf("only %d documents are cited: the pattern finds too few", found)
	}
}

// TestPathsNamed: the folders, files and tests that a document names are in the repository.
func TestPathsNamed(t *testing.T) {
	root := filepath.Join("..", "..")
	named := regexp.MustCompile("(?:`|\\s)\\.?/?((?:induce|io|transforms|pipelines|cmd|bench|docs)/[\\w./-]*\\w)")
	test := regexp.MustCompile(`\bTest[A-Z]\w+`)
	files := repository(t, root)
	found := 0
	for path, content := range files {
		if filepath.Ext(path) != ".md" {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(string(content), -1) {
			found++
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s: %v", path, m[1], err)
			}
		}
		for _, name := range test.FindAllString(string(content), -1) {
			found++
			if !declared(files, name) {
				t.Errorf("%s names the test %s, and no test has a name that begins so", path, name)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d names were found", found)
	}
}

// declared reports whether a test's name is a given one, or begins with it.
func declared(files map[string][]byte, name string) bool {
	for path, content := range files {
		if strings.HasSuffix(path, "_test.go") && bytes.Contains(content, []byte("\nfunc "+name)) {
			return true
		}
	}
	return false
}

// TestVariablesListed: CONTRIBUTING.md lists the variables that tests and scripts read, and
// no other ones.
func TestVariablesListed(t *testing.T) {
	variable := regexp.MustCompile(`\bESPALIER_[A-Z_]+\b`)
	listed, used := make(map[string]bool), make(map[string]string)
	for path, content := range repository(t, filepath.Join("..", "..")) {
		for _, name := range variable.FindAllString(string(content), -1) {
			switch {
			case filepath.Base(path) == "CONTRIBUTING.md":
				listed[name] = true
			case filepath.Ext(path) != ".md":
				used[name] = path
			}
		}
	}
	for name, path := range used {
		if !listed[name] {
			t.Errorf("%s has %s, which CONTRIBUTING.md does not list", path, name)
		}
	}
	for name := range listed {
		if used[name] == "" {
			t.Errorf("CONTRIBUTING.md lists %s, which nothing reads", name)
		}
	}
	if len(used) < 8 {
		t.Errorf("only %d variables were found", len(used))
	}
}

// TestUpdateFlag: golden files are written by one flag, whatever the package.
func TestUpdateFlag(t *testing.T) {
	flags := regexp.MustCompile(`\bflag\.(?:Bool|String|Int|Lookup)\("(\w+)"`)
	found := 0
	for path, content := range repository(t, filepath.Join("..", "..")) {
		if !strings.HasSuffix(path, "_test.go") || !strings.Contains(string(content), "golden") {
			continue
		}
		for _, m := range flags.FindAllStringSubmatch(string(content), -1) {
			if m[1] == "update" {
				found++
			} else if !strings.HasPrefix(m[0], "flag.Lookup") {
				t.Errorf("%s declares the flag -%s: golden files are written by -update", path, m[1])
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d packages of tests have the flag", found)
	}
}

// prose returns the part of a line that is written for readers: of Go files the
// comment.
func prose(path, line string) string {
	if filepath.Ext(path) != ".go" {
		return line
	}
	_, comment, _ := strings.Cut(line, "//")
	return comment
}

// repository returns the text files of the repository by path.
func repository(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "runs" || name == "testdata" && strings.Contains(path, "fuzz") {
				return filepath.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 || d.Name() == "go.sum" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil || bytes.IndexByte(content, 0) >= 0 {
			return err
		}
		files[filepath.ToSlash(path)] = content
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

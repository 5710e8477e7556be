package export_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/textview"
)

// written returns a tree as a file.
func written(t *testing.T, m *tree.Tree, o export.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := export.Write(&b, m, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// files writes files to a new folder.
func files(t *testing.T, contents map[string][]byte) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range contents {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// run runs a command of the shell in a folder.
func run(t *testing.T, folder, command string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", command)
	c.Dir = folder
	out, err := c.CombinedOutput()
	return string(out), err
}

// needs skips a test if a command of the shell fails.
func needs(t *testing.T, command, what string) {
	t.Helper()
	if out, err := run(t, t.TempDir(), command); err != nil {
		t.Skipf("waits for %s: %v: %.200s", what, err, out)
	}
}

// TestGoldenTests: the golden rows as a test of each language pass if they are next to the file,
// and fail if a cut of the file is moved.
func TestGoldenTests(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/small.json")
	cases, err := export.Cases(m, export.GoldenRows(m))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ format, name, file, test, command string }{
		{"c", "", "churn.c", "test_churn.c", "cc -std=c99 -Wall -Wextra -Werror -o test test_churn.c -lm && ./test"},
		{
			"java", "org.example.Churn", "Churn.java", "ChurnTest.java",
			"javac -d . Churn.java ChurnTest.java && java -cp . org.example.ChurnTest",
		},
		{"python", "", "churn.py", "test_churn.py", "python3 -m unittest test_churn.py"},
		{"javascript", "", "churn.mjs", "churn.test.mjs", "node --test churn.test.mjs"},
	} {
		t.Run(c.format, func(t *testing.T) {
			t.Parallel()
			o := export.Options{Format: c.format, Name: c.name, File: c.file, With: export.With{Path: true}}
			if !export.Runs(o) {
				t.Skipf("waits for what runs %s", c.format)
			}
			test, err := export.GoldenTest(m, cases, o, c.test)
			if err != nil {
				t.Fatal(err)
			}
			source := written(t, m, o)
			contents := map[string][]byte{c.file: source, c.test: test}
			if out, err := run(t, files(t, contents), c.command); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			contents[c.file] = bytes.Replace(source, []byte(">= 30.5"), []byte(">= 31.5"), 1)
			if bytes.Equal(contents[c.file], source) {
				t.Fatal("the file has no cut at 30.5")
			}
			if out, err := run(t, files(t, contents), c.command); err == nil {
				t.Errorf("a moved cut is not found: %s", out)
			}
		})
	}
}

// TestPathWords: an exported file describes the path to a leaf in the words of predict.
func TestPathWords(t *testing.T) {
	t.Parallel()
	if !export.Runs(export.Options{Format: "python"}) {
		t.Skip("waits for Python 3")
	}
	m := read(t, "../../induce/tree/testdata/golden/both.json")
	folder := files(t, map[string][]byte{
		"model.py": written(t, m, export.Options{Format: "python", With: export.With{Path: true}}),
		"all.py":   []byte("import model\nprint('\\n'.join(' and '.join(model._path(l[0])) for l in model.LEAVES))\n"),
	})
	out, err := run(t, folder, "python3 all.py")
	if want := strings.Join(textview.Paths(m.Tested()), "\n") + "\n"; err != nil || out != want {
		t.Errorf("%v: %s: want %s", err, out, want)
	}
	if plain := written(t, m, export.Options{Format: "python"}); bytes.Contains(plain, []byte("path")) {
		t.Error("a file without --with path has one")
	}
}

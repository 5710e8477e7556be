package textview_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// TestTextModels: by hand. What a leaf's model can give stands beside its class, and below
// the leaf where lines are short.
func TestTextModels(t *testing.T) {
	m := goldenTree(t, "modelled.json")
	for width, want := range map[int]string{
		0:  "   └─ job != b    10      6   50.0%     5     4 *p 0.60, from 0.32 to 0.90 with age\n",
		90: "   └─ job != b    10      6   50.0%     5 *p 0.60, from 0.32 to 0.90 with age\n",
		60: "   └─ job != b    10   50.0%     5 *p 0.60\n         p 0.60, from 0.32 to 0.90 with age\n",
	} {
		var got bytes.Buffer
		if err := textview.Text(&got, m, width); err != nil || !strings.Contains(got.String(), want) {
			t.Errorf("width %d: %v, want %q in\n%s", width, err, want, got.String())
		}
		for line := range strings.Lines(got.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Errorf("width %d: a line of %d characters: %s", width, n, line)
			}
		}
	}
}

// TestTextBoosters: by hand. The features of a booster are listed among the features of the model.
func TestTextBoosters(t *testing.T) {
	var got bytes.Buffer
	if err := textview.Text(&got, goldenTree(t, "boosted.json"), 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"3     1 *n 1.00, from 0.27 to 0.27 with age\n", "5     4 *p 0.60, from 0.12 to 0.98 with age and job\n",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("want %q in\n%s", want, got.String())
		}
	}
}

// goldenTree reads a golden tree of package tree.
func goldenTree(t *testing.T, name string) *tree.Tree {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "induce", "tree", "testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	m, err := tree.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestListed(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := textview.Listed(words, strings.Clone); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

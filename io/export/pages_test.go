package export_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/docs"
	"github.com/espalier-ml/espalier/io/export"
)

// fenced returns the first block of a language in a page.
func fenced(t *testing.T, page, language string) []byte {
	t.Helper()
	p, ok := docs.Find(page)
	if !ok {
		t.Fatalf("no page %s", page)
	}
	_, block, ok := strings.Cut(p.Text, "\n```"+language+"\n")
	block, _, closed := strings.Cut(block, "\n```")
	if !ok || !closed {
		t.Fatalf("%s.md has no block of %s", page, language)
	}
	return []byte(block + "\n")
}

// TestPages: the example of each language in docs/exports.md runs as it stands.
func TestPages(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/small.json") // has age and job
	for _, c := range []struct{ format, name, file, example, fence, command, want string }{
		{"c", "churn", "churn.c", "example.c", "c", "cc -Wall -Werror -o example example.c churn.c -lm && ./example", "for 3"},
		{
			"java", "org.example.Churn", "Churn.java", "Example.java", "java",
			"javac -d . Churn.java Example.java && java -cp . Example", "for 3.0\ntrue",
		},
		{"python", "", "churn.py", "example.py", "python", "python3 example.py", "for 3.0"},
		{"javascript", "", "churn.mjs", "example.mjs", "js", "node example.mjs", "for 3"},
	} {
		t.Run(c.format, func(t *testing.T) {
			t.Parallel()
			o := export.Options{Format: c.format, Name: c.name, File: c.file}
			if !export.Runs(o) {
				t.Skipf("waits for what runs %s", c.format)
			}
			folder := files(t, map[string][]byte{
				c.file: written(t, m, o), c.example: fenced(t, "exports", c.fence),
			})
			if out, err := run(t, folder, c.command); err != nil || !strings.Contains(out, c.want) {
				t.Errorf("%v: %s: want %q", err, out, c.want)
			}
		})
	}
}

// TestHeads: the example in the head of a file runs as it stands, where the file needs no other.
func TestHeads(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/dated.json")
	for _, c := range []struct{ format, file, mark, example, command string }{
		{"python", "churn.py", "# ", "example.py", "python3 example.py"},
		{"javascript", "churn.mjs", "// ", "example.mjs", "node example.mjs"},
		{"c", "churn.c", "// ", "example.c", "cc -Wall -Werror -o example example.c churn.c -lm && ./example"},
	} {
		t.Run(c.format, func(t *testing.T) {
			t.Parallel()
			o := export.Options{Format: c.format, File: c.file}
			if !export.Runs(o) {
				t.Skipf("waits for what runs %s", c.format)
			}
			source := written(t, m, o)
			_, head, _ := strings.Cut(string(source), strings.TrimSpace(c.mark)+" An example:\n")
			var example []string
			for line := range strings.Lines(head) {
				if code, ok := strings.CutPrefix(line, c.mark+"  "); ok && !strings.HasPrefix(code, "cc ") {
					example = append(example, code)
				} else if strings.TrimSpace(line) != strings.TrimSpace(c.mark) {
					break
				}
			}
			text := strings.Join(example, "")
			out, err := run(t, files(t, map[string][]byte{c.file: source, c.example: []byte(text)}), c.command)
			if err != nil || !slices.ContainsFunc(m.Label.Classes, func(s string) bool { return strings.Contains(out, s) }) {
				t.Errorf("%v: %s: of %s", err, out, text)
			}
		})
	}
}

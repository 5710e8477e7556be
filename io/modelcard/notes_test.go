package modelcard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/io/modelcard"
)

// TestNotes: notes in YAML and in Markdown are the same.
func TestNotes(t *testing.T) {
	want := modelcard.Notes{
		"owner": "the risk team", "intended_use": "Loans.\n\n#### Who\n\nA clerk <https://x.y> looks at each.",
		"ethical_considerations": "None &lt;b>known&lt;/b>.",
	}
	inYAML := "owner: the risk team\nintended_use: |\n  Loans.\n\n  # Who\n\n  A clerk <https://x.y> looks at each.\nethical_considerations: None <b>known</b>.\n"
	inMarkdown := "# Notes on the model\r\n\r\n## Owner\r\nthe risk team\n## Intended use\n\nLoans.\n\n### Who\n\n" +
		"A clerk <https://x.y> looks at each.\n\n## ETHICAL  considerations ##\nNone <b>known</b>.\n"
	for file, text := range map[string]string{"notes.yaml": inYAML, "a/notes.MD": inMarkdown, "notes": inYAML} {
		got, err := modelcard.ReadNotes(file, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	for _, file := range []string{"empty.yaml", "empty.md"} {
		if got, err := modelcard.ReadNotes(file, nil); err != nil || len(got) > 0 {
			t.Errorf("%s: %v, %v", file, got, err)
		}
	}
}

// TestNotesErrors: other names and other forms are refused, with the names of notes.
func TestNotesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"notes.yaml\nintended_uses: x":          `did you mean "intended_use"?`,
		"notes.yaml\n- a list":                  "not YAML of names and texts",
		"notes.yaml\nowner: [1, 2]":             "not YAML of names and texts",
		"notes.md\n## Intended use\n\n## Other": `no note "Other"`,
		"notes.md\nwords\n## Owner\nx":          "stands before the first heading",
	} {
		file, content, _ := strings.Cut(text, "\n")
		if _, err := modelcard.ReadNotes(file, []byte(content)); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "--notes "+file) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestNotesStayInPlace: a note adds no large heading and no tag, and its blocks of code end with it.
func TestNotesStayInPlace(t *testing.T) {
	r := runNamed(func(i int) string { return fmt.Sprint("name ", i) })
	for _, note := range []string{
		"# Big", "Big\n===\n", "Small\n---", "```\ncode <b>", "~~~~\n```", "<script>x</script>", "<!-- open", "a\x00b \u202e", "   ## x",
		"<details>", "text\n<div>\n\nmore",
	} {
		n, err := modelcard.ReadNotes("n.yaml", fmt.Appendf(nil, "factors: |\n  %s\n", strings.ReplaceAll(strings.NewReplacer(
			"\x00", "", "\u202e", "").Replace(note), "\n", "\n  ")))
		if err != nil {
			t.Fatalf("%q: %v", note, err)
		}
		headings, kinds, _ := outline(t, written(t, &modelcard.Content{Run: r, Notes: n}))
		var above []string
		for _, h := range headings[1:] {
			if !strings.HasPrefix(h, "#### ") {
				above = append(above, h)
			}
		}
		if diff := cmp.Diff(usual(), above); diff != "" {
			t.Errorf("%q: headings (-want +got):\n%s", note, diff)
		}
		if kinds["RawHTML"]+kinds["HTMLBlock"] > 0 || kinds["Table"] != 5 {
			t.Errorf("%q: elements %v", note, kinds)
		}
	}
}

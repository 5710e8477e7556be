package modelcard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Notes are remarks by people about a model, by the names of noteNames.
type Notes map[string]string

// noteNames lists the notes: the keys of a YAML file and, with "_" replaced by a blank, the
// headings of a Markdown file.
func noteNames() []string {
	return []string{
		"owner", "contact", "licence", "citation", "intended_use", "out_of_scope", "factors", "evaluation_data",
		"training_data", "ethical_considerations", "caveats",
	}
}

// ReadNotes reads notes. A file whose name ends in .md or .markdown is Markdown, with each note
// below its heading. Any other file is YAML. Unknown names are usage errors.
func ReadNotes(file string, b []byte) (Notes, error) {
	read := fromYAML
	if lower := strings.ToLower(file); strings.HasSuffix(lower, ".md") || strings.HasSuffix(lower, ".markdown") {
		read = fromMarkdown
	}
	n, err := read(b)
	if err != nil {
		return nil, usage.Errorf("--notes %s: %v", file, err)
	}
	return n, nil
}

// unknown returns an error that lists the notes.
func unknown(name string) error {
	return fmt.Errorf("there is no note %q%s; want %s", name, setting.Hint(name, noteNames()),
		setting.Alternatives(noteNames()))
}

func known(name string) bool { return slices.Contains(noteNames(), name) }

func fromYAML(b []byte) (Notes, error) {
	var list map[string]string
	if err := yaml.NewDecoder(bytes.NewReader(b)).Decode(&list); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("not YAML of names and texts (Markdown has a name that ends in .md): %s",
			strings.Join(strings.Fields(err.Error()), " "))
	}
	n := make(Notes)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if !known(name) {
			return nil, unknown(name)
		}
		n[name] = tidy(list[name])
	}
	return n, nil
}

// heading matches a heading line.
var heading = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$`)

// fromMarkdown reads notes below headings that are their names. Headings below these belong to the
// note; a heading of the first level may be a title.
func fromMarkdown(b []byte) (Notes, error) {
	n := make(Notes)
	at := ""
	level := 0
	var lines []string
	flush := func() {
		if at != "" {
			n[at] = tidy(strings.Join(lines, "\n"))
		}
		lines = nil
	}
	for _, line := range strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n") {
		title, depth := titleOf(line)
		name := keyOf(title)
		switch {
		case depth > 0 && known(name):
			flush()
			at = name
			level = depth
		case depth == 1 && at == "": // a title
		case depth > 0 && (at == "" || depth <= level):
			return nil, unknown(title)
		case at == "" && strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("%q stands before the first heading; want a heading such as \"## Intended use\"", line)
		default:
			lines = append(lines, line)
		}
	}
	flush()
	return n, nil
}

// titleOf returns the text and the level of a heading; level 0 if the line is not a heading.
func titleOf(line string) (title string, level int) {
	m := heading.FindStringSubmatch(line)
	if m == nil {
		return "", 0
	}
	return m[2], len(m[1])
}

// keyOf returns the name of the note with a heading.
func keyOf(title string) string {
	blank := func(r rune) bool { return unicode.IsSpace(r) || r == '_' }
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), blank), "_")
}

// underline matches a line that makes a heading of the line above it.
var underline = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)

// fence matches a line that begins or ends a block of code.
var fence = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})(.*)$")

// tidy makes the text of a note fit into a card: its headings are nested below the headings of the
// card, its blocks of code are closed, and tags and characters that control a terminal or change
// the direction of a text are shown as they are.
func tidy(text string) string {
	var lines []string
	var open, before string
	for _, line := range strings.Split(strings.ToValidUTF8(strings.TrimSpace(text), "\ufffd"), "\n") {
		if m := fence.FindStringSubmatch(line); m != nil {
			switch {
			case open == "":
				open = m[1]
			case m[1][0] == open[0] && len(m[1]) >= len(open) && strings.TrimSpace(m[2]) == "":
				open = ""
			}
		}
		code := open != ""
		if m := heading.FindStringSubmatch(line); m != nil && !code {
			line = "#### " + m[2]
		}
		if underline.MatchString(line) && strings.TrimSpace(before) != "" && !code {
			line = `\` + strings.TrimSpace(line)
		}
		before = line
		lines = append(lines, plainLine(line, code))
	}
	if open != "" {
		lines = append(lines, open)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// plainLine replaces characters of a line that are not printable and, outside of code, the
// beginnings of tags.
func plainLine(line string, code bool) string {
	var b strings.Builder
	for i, r := range line {
		rest := line[i:]
		switch {
		case r != '\t' && !unicode.IsPrint(r):
			b.WriteRune('\ufffd')
		case r == '<' && !code && !strings.HasPrefix(rest, "<https://") && !strings.HasPrefix(rest, "<mailto:"):
			b.WriteString("&lt;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

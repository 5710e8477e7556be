package export

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/usage"
)

// Options say how a tree is written.
type Options struct {
	Format string // one of Formats
	Name   string // of the package, module or class; empty: the format's own
	Digest string // of tree.json, for the head of the file; empty: it is not told
}

// Formats lists the formats.
func Formats() []string {
	var names []string
	for _, l := range languages() {
		names = append(names, l.format)
	}
	return names
}

// Write writes a tree in a format. A tree that the format cannot say is refused.
func Write(w io.Writer, t *tree.Tree, o Options) error {
	l, err := languageOf(o.Format)
	if err != nil {
		return err
	}
	p, err := newProgram(t, l, o)
	if err != nil {
		return fmt.Errorf("--format %s: %w", o.Format, err)
	}
	source, err := filled(files, "templates/"+l.format+".tmpl", p)
	if err != nil {
		return err
	}
	if l.tidy != nil {
		if source, err = l.tidy(source); err != nil {
			return fmt.Errorf("--format %s: %w", o.Format, err)
		}
	}
	if _, err := w.Write(source); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// mark begins the first line of each file.
const mark = "Written by espalier export"

// IsExport reports whether the first bytes of a file are those of a file of Write or GoldenFile.
func IsExport(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, "/#- "), []byte(mark)) || bytes.Contains(head, []byte(goldenFormat))
}

const goldenFormat = "espalier/golden"

func languageOf(format string) (*language, error) {
	all := languages()
	at := slices.IndexFunc(all, func(l language) bool { return l.format == format })
	if at < 0 {
		return nil, usage.Errorf("--format %q: want one of %s", format, strings.Join(Formats(), ", "))
	}
	return &all[at], nil
}

//go:embed templates/*.tmpl
var files embed.FS

// filled returns a template of some files, with what it shows filled in.
func filled(from embed.FS, name string, p *program) ([]byte, error) {
	t, err := template.New("").ParseFS(from, name)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, path.Base(name), p); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	return b.Bytes(), nil
}

package export

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export/jsontree"
	"github.com/espalier-ml/espalier/io/export/onnx"
	"github.com/espalier-ml/espalier/io/usage"
)

// Options describe how a tree is written.
type Options struct {
	Format  string // one of Formats
	Name    string // name of the package, module or class; empty: the default of the format
	Digest  string // digest of tree.json, for the head of the file; empty if unknown
	Run     string // name of the tree's run, for the head of the file; empty if unknown
	Version string // version of the program, for the head of the file; empty if unknown
	File    string // name of the file, without folders; empty if absent
	Dialect string // for format sql: one of Dialects
	Table   string // for format sql: the table of the rows; empty: input_rows
	With    With   // optional columns and members
}

// With selects optional parts of predictions. Source code of a language always includes the leaf,
// the number of tests and the cost.
type With struct {
	Cost bool // number of tests, and their cost
	Path bool // conditions on the path to the leaf as text, as in predictions of predict
	Leaf bool // number of the leaf in tree.json
}

// Extras lists the optional parts.
func Extras() []string { return []string{"cost", "path", "leaf"} }

// WithExtras returns the optional parts named by a list of Extras.
func WithExtras(names []string) (With, error) {
	var w With
	for _, name := range names {
		switch name {
		case "cost":
			w.Cost = true
		case "path":
			w.Path = true
		case "leaf":
			w.Leaf = true
		default:
			return w, usage.Errorf("--with %q: want some of %s", name, strings.Join(Extras(), ", "))
		}
	}
	return w, nil
}

// fileFormat is a format: source code of a language, or a file that a function writes.
type fileFormat struct {
	name     string
	language *language // nil if write writes the file
	write    func(t *tree.Tree, o Options) ([]byte, error)
	paths    bool // whether Options.With.Path has an effect
	// run prepares a file to predict rows, at the place where it is written; nil: the language's
	// toolchain does.
	run func(ctx context.Context, t *tree.Tree, o Options) (runner, error)
	// runs reports whether everything is installed that run needs.
	runs func(o Options) bool
}

// formats lists the formats in the order of the help.
func formats() []fileFormat {
	var all []fileFormat
	for _, l := range languages() {
		all = append(all, fileFormat{name: l.format, language: &l, paths: true})
	}
	return append(append(all, sqlFiles()), documents()...)
}

// Formats lists the formats.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Write writes a tree in a format. It returns an error if the format cannot represent the tree.
func Write(w io.Writer, t *tree.Tree, o Options) error {
	f, err := formatOf(o.Format)
	if err != nil {
		return err
	}
	if o.With.Path && !f.paths {
		return usage.Errorf("--with path: files of --format %s have no text of the path", f.name)
	}
	write := f.write
	if f.language != nil {
		write = f.language.write
	}
	source, err := write(t, o)
	if err != nil {
		return fmt.Errorf("--format %s: %w", o.Format, err)
	}
	if _, err := w.Write(source); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// write fills in the template of the language.
func (l *language) write(t *tree.Tree, o Options) ([]byte, error) {
	p, err := newProgram(t, l, o)
	if err != nil {
		return nil, err
	}
	return filled(files, "templates/"+l.format+".tmpl", p)
}

// mark begins the first line of each file.
const mark = "Written by espalier export"

// IsExport reports whether the first bytes of a file show that Write or GoldenFile has written it.
func IsExport(head []byte) bool {
	if bytes.HasPrefix(bytes.TrimLeft(head, "/#- "), []byte(mark)) {
		return true
	}
	if _, text, ok := bytes.Cut(head, []byte("<!-- ")); ok && bytes.HasPrefix(head, []byte("<?xml")) {
		return bytes.HasPrefix(text, []byte(mark))
	}
	return bytes.Contains(head, []byte(goldenFormat)) || bytes.Contains(head, []byte(jsontree.Format)) ||
		bytes.HasPrefix(head, []byte(onnx.Head))
}

const goldenFormat = "espalier/golden"

func formatOf(name string) (*fileFormat, error) {
	all := formats()
	at := slices.IndexFunc(all, func(f fileFormat) bool { return f.name == name })
	if at < 0 {
		return nil, usage.Errorf("--format %q: want one of %s", name, strings.Join(Formats(), ", "))
	}
	return &all[at], nil
}

//go:embed templates
var files embed.FS

// filled executes a template of files.
func filled(from embed.FS, name string, p any) ([]byte, error) {
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

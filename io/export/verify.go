package export

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
)

//go:embed drivers/*.tmpl
var drivers embed.FS

// toolchain is how a format is run.
type toolchain struct {
	needs   string   // what people install
	program string   // that must be there
	source  string   // the file of the tree
	driver  string   // the file of the driver
	build   []string // nil: nothing is built
	run     []string // the file of the rows follows
}

func toolchains() map[string]toolchain {
	return map[string]toolchain{
		"c": {
			needs: "a C compiler", program: "cc", source: "model.c", driver: "check.c",
			build: []string{"cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-o", "check", "check.c", "-lm"},
			run:   []string{"./check"},
		},
		"java": {
			needs: "a JDK of Java 17", program: "javac", source: "Model.java", driver: "Check.java",
			build: []string{"javac", "-encoding", "ascii", "-d", ".", "Model.java", "Check.java"},
			run:   []string{"java", "-cp", ".", "Check"},
		},
		"python": {
			needs: "Python 3", program: "python3", source: "model.py", driver: "check.py",
			run: []string{"python3", "check.py"},
		},
		"javascript": {
			needs: "Node.js", program: "node", source: "model.mjs", driver: "check.mjs",
			run: []string{"node", "check.mjs"},
		},
	}
}

// Runs reports whether what runs a format is installed.
func Runs(o Options) bool {
	f, err := formatOf(o.Format)
	if err != nil {
		return false
	}
	if f.runs != nil {
		return f.runs(o)
	}
	_, err = exec.LookPath(toolchains()[f.name].program)
	return err == nil
}

// Target is a tree as a file of some format, and what runs this file.
type Target struct {
	tree *tree.Tree
	runner
}

// runner runs a file on rows.
type runner interface {
	// predict prints a line for each row: leaf, tests, cost, "=" and the class, probabilities. Texts have %XX for what is no letter or digit.
	predict(ctx context.Context, cases []Case) ([]byte, error)
	// Close removes what was written for the runs.
	Close()
}

// NewTarget writes the tree in a format to a temporary folder, and compiles it where the format
// is compiled. What runs the format must be installed here. Close removes the folder.
func NewTarget(ctx context.Context, t *tree.Tree, o Options) (*Target, error) {
	f, err := formatOf(o.Format)
	if err != nil {
		return nil, err
	}
	run := f.run
	if run == nil {
		run = f.language.run
	}
	r, err := run(ctx, t, o)
	if err != nil {
		return nil, err
	}
	return &Target{t, r}, nil
}

// Compare runs the file on the rows of the cases, by row and by asking, and compares class, leaf,
// tests and cost, and the probabilities to the last bit; those of leaf models to 1e-12. It returns
// the differences, a line each, at most most of them.
func (t *Target) Compare(ctx context.Context, cases []Case, most int) (differences []string, err error) {
	out, err := t.predict(ctx, cases)
	if err != nil {
		return nil, err
	}
	return compare(t.tree, cases, out, most)
}

// run writes and compiles the file by the language's toolchain.
func (l *language) run(ctx context.Context, t *tree.Tree, o Options) (runner, error) {
	tools := toolchains()[l.format]
	if !Runs(o) {
		return nil, usage.Errorf("--verify runs the file: install %s, whose program %s is not there", tools.needs,
			tools.program)
	}
	b, err := newBench(tools.run)
	if err != nil {
		return nil, err
	}
	if err = b.write(t, l, o.With, tools); err == nil && tools.build != nil {
		_, err = b.command(ctx, tools.build)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// bench is a temporary folder with a file and its driver, and the command that runs them; the
// file of the rows follows the command.
type bench struct {
	folder string
	run    []string
	remove func() // the folder
}

func newBench(run []string) (*bench, error) {
	folder, remove, err := objectstore.TemporaryFolder("espalier-export-")
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return &bench{folder, run, remove}, nil
}

// newBenchOf returns a bench with some files.
func newBenchOf(run []string, files map[string][]byte) (*bench, error) {
	b, err := newBench(run)
	if err != nil {
		return nil, err
	}
	for name, content := range files {
		if err := b.file(name, content); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// Close removes the folder.
func (b *bench) Close() { b.remove() }

func (b *bench) predict(ctx context.Context, cases []Case) ([]byte, error) {
	var rows bytes.Buffer
	for i := range cases {
		rows.WriteString(cases[i].line())
	}
	if err := b.file(rowsFile, rows.Bytes()); err != nil {
		return nil, err
	}
	return b.command(ctx, append(slices.Clone(b.run), rowsFile))
}

const rowsFile = "rows.txt"

// write writes the tree and the driver.
func (b *bench) write(t *tree.Tree, l *language, with With, tools toolchain) error {
	o := Options{Format: l.format, With: with}
	p, err := newProgram(t, l, o)
	if err != nil {
		return err
	}
	source, err := l.write(t, o)
	if err != nil {
		return err
	}
	driver, err := filled(drivers, "drivers/"+l.format+".tmpl", p)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{tools.source: source, tools.driver: driver} {
		if err := b.file(name, content); err != nil {
			return err
		}
	}
	return nil
}

// file writes a file of the folder.
func (b *bench) file(name string, content []byte) error {
	path := filepath.Join(b.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	return nil
}

// command runs a program in the folder and returns what it prints.
func (b *bench) command(ctx context.Context, command []string) ([]byte, error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir = b.folder
	var out, problems bytes.Buffer
	c.Stdout = &out
	c.Stderr = &problems
	if err := c.Run(); err != nil {
		text := problems.Bytes()
		return nil, fmt.Errorf("verify: %s: %w: %s", command[0], err, text[:min(len(text), 2000)])
	}
	return out.Bytes(), nil
}

// line returns the row for the drivers: cells between tabs, "?" a missing value, "=" before a
// text whose bytes that are no letters or digits are %XX.
func (c *Case) line() string {
	cells := make([]string, len(c.Cells))
	for i, cell := range c.Cells {
		switch {
		case cell.Number != nil:
			cells[i] = strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(*cell.Number, 'g', -1, 64)), "+")
		case cell.Text != nil:
			cells[i] = "=" + escaped(*cell.Text)
		default:
			cells[i] = "?"
		}
	}
	return strings.Join(cells, "\t") + "\n"
}

func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// compare compares what a driver printed with the cases.
func compare(t *tree.Tree, cases []Case, out []byte, most int) ([]string, error) {
	var differences []string
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, 1<<26)
	paths := pathsByNode(t)
	at := 0
	for ; in.Scan(); at++ {
		if at >= len(cases) {
			return nil, errors.New("verify: more predictions than rows")
		}
		words, path := cutPath(strings.Fields(in.Text()))
		d := cases[at].differs(t, words)
		if want := paths[cases[at].Want.Leaf]; d == "" && path != nil && *path != want {
			d = fmt.Sprintf("path %q: want %q", *path, want)
		}
		if d != "" && len(differences) < most {
			differences = append(differences, fmt.Sprintf("row %d %v: %s", at, cases[at].Cells, d))
		}
	}
	if at < len(cases) {
		return nil, fmt.Errorf("verify: %d predictions for %d rows", at, len(cases))
	}
	return differences, nil
}

// pathsByNode returns the texts of the paths by the nodes of the leaves.
func pathsByNode(t *tree.Tree) map[int]string {
	list := textview.Paths(t)
	paths := make(map[int]string)
	for id := range t.Nodes {
		if t.Nodes[id].Leaf() {
			paths[id] = list[0]
			list = list[1:]
		}
	}
	return paths
}

// cutPath parts the words of a line from the text of the path, which follows "=" if the file has
// it.
func cutPath(words []string) ([]string, *string) {
	last := len(words) - 1
	if last < 0 || !strings.HasPrefix(words[last], "=") {
		return words, nil
	}
	path, err := url.PathUnescape(words[last][1:])
	if err != nil {
		path = words[last]
	}
	return words[:last], &path
}

// near is how far the probabilities of a leaf model may be off: languages differ in exp.
const near = 1e-12

// differs describes where the words of a line differ from the prediction; empty if they agree.
func (c *Case) differs(t *tree.Tree, line []string) string {
	const before = 4 // leaf, tests, cost, class
	classes := t.Label.Classes
	if len(line) != before+len(classes) {
		return fmt.Sprintf("%d words: want %d", len(line), before+len(classes))
	}
	const classAt = 3
	class, err := url.PathUnescape(strings.TrimPrefix(line[classAt], "="))
	if err != nil || !strings.HasPrefix(line[classAt], "=") {
		return fmt.Sprintf("class %s: want a text", line[classAt])
	}
	numbers := make([]float64, len(line))
	for i, word := range line {
		if i == classAt {
			continue
		}
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return err.Error()
		}
		numbers[i] = x
	}
	leaf := int(numbers[0])
	tests := int(numbers[1])
	cost := numbers[2]
	switch {
	case leaf != c.Want.Leaf:
		return fmt.Sprintf("leaf %d: want %d", leaf, c.Want.Leaf)
	case tests != c.Want.Tests:
		return fmt.Sprintf("%d tests: want %d", tests, c.Want.Tests)
	case cost != c.Want.Cost:
		return fmt.Sprintf("cost %v: want %v", cost, c.Want.Cost)
	case class != c.Want.Class:
		return fmt.Sprintf("class %q: want %q", class, c.Want.Class)
	}
	allowed := 0.0
	if t.Nodes[leaf].Model != nil {
		allowed = near
	}
	for k, p := range numbers[before:] {
		if !(math.Abs(p-c.Want.Probabilities[k]) <= allowed) {
			return fmt.Sprintf("probability of %q: %v: want %v", classes[k], p, c.Want.Probabilities[k])
		}
	}
	return ""
}

package export

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
)

// randomName returns a name of characters that mean something in some language, or nothing.
func randomName(random *rand.Rand, format string) string {
	parts := []string{
		`"`, `'`, `\`, "<", ">", "&", "&amp;", "]]>", "<!--", "-->", "\n", "\r", "\t", " ", "{", "}", "\u202e", "\u200b",
		"\u00a0", "\u2028", "\U0001f600", "\u00e9", "e\u0301", "a", "A", "0", "-", "%", "$", "=", "(", ")", ":", "/", "\ufffd",
		"NaN", "null", "label", "leaf", "cost", "tests", "probabilities", "_2", "\ue000", "\U0010ffff", "\x7f", "\u0085",
		"\x00", "\x01", "\x1b", strings.Repeat("long ", 2000),
	}
	if format == "pmml" {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s < " " && s != "\t" && s != "\n" && s != "\r" })
	}
	var b strings.Builder
	for range random.IntN(4) {
		b.WriteString(parts[random.IntN(len(parts)-random.IntN(2))]) // half of the time none is long
	}
	return b.String()
}

// TestNames: what reads documents gives back names and texts of all kinds, many sets in one process.
func TestNames(t *testing.T) {
	t.Parallel()
	sets := 3
	if longtest.Enabled() {
		sets = 2000
	}
	b, err := os.ReadFile("../../induce/tree/testdata/golden/both.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range documents() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			if !f.runs(Options{}) {
				t.Skipf("waits for what runs %s: onnxruntime, ESPALIER_PMML or Python 3", f.name)
			}
			m, err := tree.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			r, err := f.run(t.Context(), m, Options{Format: f.name})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			of, ok := r.(*bench)
			if !ok {
				t.Fatalf("%T runs no files", r)
			}
			random := rand.New(rand.NewPCG(22, 2))
			command := slices.Clone(of.run)
			var all []Case
			for set := range sets {
				m := named(t, b, random, f.name)
				cases, err := Cases(m, GoldenRows(m))
				if err != nil {
					t.Fatal(err)
				}
				content, err := f.write(m, Options{Format: f.name})
				if err != nil {
					t.Fatal(err)
				}
				var rows bytes.Buffer
				for i := range cases {
					rows.WriteString(cases[i].line())
				}
				folder := fmt.Sprintf("set%d", set)
				for name, text := range map[string][]byte{"model." + f.name: content, rowsFile: rows.Bytes()} {
					if err := of.file(filepath.Join(folder, name), text); err != nil {
						t.Fatal(err)
					}
				}
				command, all = append(command, filepath.Join(folder, rowsFile)), append(all, cases...)
			}
			out, err := of.command(t.Context(), command)
			if err != nil {
				t.Fatal(err)
			}
			compareSets(t, m, all, out)
		})
	}
}

// compareSets compares all lines. m has as many classes as the tree of each set.
func compareSets(t *testing.T, m *tree.Tree, cases []Case, out []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%d predictions for %d rows", len(lines), len(cases))
	}
	for i := range cases {
		c := &cases[i]
		if d := c.differs(m, strings.Fields(lines[i])); d != "" {
			t.Fatalf("row %d %v: %s", i, c.Cells, d)
		}
	}
}

// named returns a tree with random names and values.
func named(t *testing.T, b []byte, random *rand.Rand, format string) *tree.Tree {
	t.Helper()
	m, err := tree.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() func() string {
		taken := map[string]bool{}
		return func() string {
			for {
				if s := randomName(random, format); !taken[s] {
					taken[s] = true
					return s
				}
			}
		}
	}
	name, class := fresh(), fresh()
	m = m.Tested()
	for i := range m.Features {
		f, value := &m.Features[i], fresh()
		f.Name = name()
		f.Values = slices.Clone(f.Values)
		for k := range f.Values {
			f.Values[k] = value()
		}
	}
	m.Label.Column = name()
	m.Label.Classes = slices.Clone(m.Label.Classes)
	for k := range m.Label.Classes {
		m.Label.Classes[k] = class()
	}
	return m
}

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestShowFormats: each format begins and ends as it should, whole or in part, on standard
// output and in a file.
func TestShowFormats(t *testing.T) {
	input := mixed(t, 600, parquetio.WriteOptions{RowsPerGroup: 250})
	o, run := train(t, input, "--select", "first", "--certificate", "none")
	o.wants(t, 0)
	for format, c := range map[string]struct{ begin, end, has string }{
		"text":  {"class by ", "\n", "all rows"},
		"rules": {"class = ", "\n", "\n  if "},
		"svg":   {"<svg ", "</svg>\n", "<title>node 0: all rows"},
	} {
		file := filepath.Join(t.TempDir(), "tree."+format)
		for _, more := range [][]string{nil, {"--node", "1"}, {"--row", input + ":599"}, {"--output", file}} {
			o := espalier(t, append([]string{"show", run, "--format", format}, more...)...)
			o.wants(t, 0)
			text := o.stdout
			if len(more) > 0 && more[0] == "--output" {
				text = string(read(t, file))
				if o.stdout != "" {
					t.Errorf("%s: standard output has %q", format, o.stdout)
				}
				_, text, _ = strings.Cut(strings.Replace(text, c.begin, "\x00"+c.begin, 1), "\x00")
			}
			whole := len(more) == 0 || more[0] == "--output"
			if whole && (!strings.HasPrefix(text, c.begin) || !strings.HasSuffix(text, c.end) || !strings.Contains(text, c.has)) {
				t.Errorf("%s %v: %.300s", format, more, text)
			}
			if text == "" || strings.Contains(text, "\x1b") {
				t.Errorf("%s %v: nothing, or colours for a pipe: %.300s", format, more, text)
			}
		}
	}
}

// TestShowOutput: only a drawing of show is replaced, and only with --overwrite.
func TestShowOutput(t *testing.T) {
	folder := t.TempDir()
	own, foreign, text := filepath.Join(folder, "a.svg"), filepath.Join(folder, "b.svg"), filepath.Join(folder, "c.txt")
	if err := os.WriteFile(foreign, []byte("<svg/> <!-- espalier show -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := func(file string, more ...string) []string {
		return append([]string{"show", billedModel, "--format", "svg", "--output", file}, more...)
	}
	espalier(t, args(own)...).wants(t, 0)
	espalier(t, args(own)...).wants(t, 2, "--overwrite")
	espalier(t, args(own, "--node", "1", "--overwrite")...).wants(t, 0)
	if got := string(read(t, own)); !strings.Contains(got, ", from node 1") {
		t.Errorf("not replaced: %.100s", got)
	}
	espalier(t, args(foreign, "--overwrite")...).wants(t, 2, "nothing is overwritten")
	espalier(t, args(text, "--format", "rules")...).wants(t, 0)
	espalier(t, args(text, "--overwrite")...).wants(t, 2, "nothing is overwritten")
	espalier(t, args(filepath.Join(folder, "none", "x.svg"))...).wants(t, 0)
	espalier(t, args(folder)...).wants(t, 2, folder)
	if got := string(read(t, foreign)); !strings.HasPrefix(got, "<svg/>") {
		t.Errorf("overwritten: %.100s", got)
	}
}

// TestShowRow: for every 25th row the path ends at the leaf, with the number of tests and at
// the cost, that ask finds for the same values.
func TestShowRow(t *testing.T) {
	longtest.Skip(t)
	input := mixed(t, 300, parquetio.WriteOptions{RowsPerGroup: 70})
	groups := filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(groups, []byte("feature,cost,group,group_cost\nx,1,lab,2.5\ns,2,lab,2.5\nn,0.5,,\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	o, run := train(t, input, "--select", "first", "--certificate", "none", "--costs", groups, "--ignore", "w")
	o.wants(t, 0)
	for i := 0; i < 300; i += 25 {
		args := []string{"ask", run, "--json"}
		// the values of row i, see mixed
		x, s := strconv.FormatFloat(float64(i%37)/4, 'g', -1, 64), "value-"+strconv.Itoa(i%11)
		if i%13 == 5 {
			x = ""
		}
		if i%17 == 3 {
			s = ""
		}
		values := map[string]string{"x": x, "s": s, "n": strconv.Itoa(i * i % 101), "flag": strconv.FormatBool(i%3 == 0)}
		want := answered(t, args, values)
		o := espalier(t, "show", run, "--row", input+":"+strconv.Itoa(i))
		o.wants(t, 0)
		end := ", leaf " + strconv.Itoa(want.Node) + ", after " + strconv.Itoa(want.Tests) + " test"
		head, _, _ := strings.Cut(o.stdout, "\n")
		paid := strconv.FormatFloat(want.Paid, 'g', 6, 64)
		if !strings.Contains(head, "class = "+want.Class+" ") || !strings.Contains(head, end) ||
			!strings.HasSuffix(head, " for "+paid) {
			t.Errorf("row %d: %s\nwant %+v", i, head, want)
		}
	}
}

// asked is the outcome of ask.
type asked struct {
	Class       string
	Node, Tests int
	Paid        float64
}

// answered answers each question of ask with a value of the row.
func answered(t *testing.T, args []string, values map[string]string) asked {
	t.Helper()
	c := exec.CommandContext(t.Context(), binary, args...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	questions, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1<<16)
	for {
		n, err := questions.Read(buffer)
		for line := range strings.Lines(string(buffer[:n])) {
			if _, rest, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(line, "question ") {
				name, _, _ := strings.Cut(rest, ",")
				if _, err := in.Write([]byte(values[name] + "\n")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err != nil {
			break
		}
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	var a asked
	if err := json.Unmarshal([]byte(out.String()), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

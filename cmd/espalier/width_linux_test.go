package main_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/mattn/go-runewidth"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// escapes are the codes of colours.
var escapes = regexp.MustCompile("\x1b\\[[0-9]*m")

// onTerminal runs a command line with its output on a terminal of the given width,
// and returns its lines without colours.
func onTerminal(t *testing.T, width uint16, args ...string) []string {
	t.Helper()
	return strings.Split(escapes.ReplaceAllString(terminalOutput(t, width, nil, args...), ""), "\n")
}

// terminalOutput runs a command line as onTerminal does, with more variables of the
// environment, and returns its output.
func terminalOutput(t *testing.T, width uint16, environment []string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), binary, args...)
	c.Env = append(os.Environ(), environment...)
	terminal, end, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close() //nolint:errcheck // only read
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 50, Cols: width}); err != nil {
		t.Fatal(err)
	}
	c.Stdout = end
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end.Close() //nolint:errcheck,gosec // the command has it
	var b bytes.Buffer
	_, _ = io.Copy(&b, terminal) // ends with an error when the command has ended
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, b.String())
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

// TestTerminalWidth: on a terminal no line of any verb's tables is wider than it,
// but for what is wide in itself, names of files.
func TestTerminalWidth(t *testing.T) {
	longtest.Skip(t)
	input := mixed(t, 600, parquetio.WriteOptions{})
	_, output := train(t, input, fewTrees()...)
	_, other := train(t, input, "--select", "first", "--max_depth", "3")
	for _, width := range []uint16{60, 80, 160} {
		for _, args := range [][]string{
			{"show", output},
			{"show", output, "--depth", "2"},
			{"show", output, "--format", "rules"},
			{"show", output, "--row", input + ":7"},
			{"evaluate", "--model", output, "--input", input, "--progress", "none"},
			{"evaluate", output, "--against", other, "--input", input, "--progress", "none"},
			{"train", "--input", input, "--label", "class", "--output", t.TempDir() + "/run", "--dry_run", "--progress", "none"},
			{"train", "--help"},
			{"help", "glossary"},
			{"show", output, "--origin"},
			{"predict", "--model", output, "--input", input, "--output", t.TempDir() + "/scored", "--progress", "none"},
			{
				"train", "--input", input, "--label", "class", "--output", t.TempDir() + "/run", "--select", "first", "--show",
				"--progress", "none",
			},
		} {
			if (args[1] == "--help" || slices.Contains(args, "--origin")) && width < 80 { // what is said before the flags, and digests, have up to 80
				continue
			}
			lines := onTerminal(t, width, args...)
			if slices.Contains(args, "--origin") && len(lines) > 20 {
				t.Errorf("show --origin at %d: %d lines", width, len(lines))
			}
			for _, line := range lines {
				if n := runewidth.StringWidth(line); n > int(width) && !strings.Contains(line, "/") {
					t.Errorf("%s at %d: %d characters: %s", args[0], width, n, line)
				}
			}
		}
	}
}

// TestColours: a terminal gets colours, unless NO_COLOR is set or the terminal is dumb. The
// text is the same.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		variable string
		want     bool
	}{{"TERM=xterm", true}, {"NO_COLOR=1", false}, {"NO_COLOR=", true}, {"TERM=dumb", false}} {
		got := terminalOutput(t, 100, []string{"TERM=xterm", c.variable}, "show", billedModel)
		if strings.Contains(got, "\x1b[") != c.want {
			t.Errorf("%s: %s", c.variable, got)
		}
		if plain := strings.Join(onTerminal(t, 100, "show", billedModel), "\n"); escapes.ReplaceAllString(got, "") != plain {
			t.Errorf("%s:\n%s\nwant\n%s", c.variable, got, plain)
		}
	}
}

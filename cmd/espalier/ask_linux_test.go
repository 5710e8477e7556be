package main_test

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screen collects what a terminal is sent.
type screen struct {
	sync.Mutex
	bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.Buffer.Write(b)
}

// waitsFor waits until the terminal has shown a text.
func (s *screen) waitsFor(ctx context.Context, text string) {
	for ctx.Err() == nil {
		s.Lock()
		shown := strings.Contains(s.String(), text)
		s.Unlock()
		if shown {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// key is pressed when the terminal shows a text.
type key struct{ waitFor, press string }

// terminal runs ask in a terminal. Keys that come sooner after a question than
// within a person's reaction, here patience, may be lost.
func terminal(t *testing.T, keys []key, patience time.Duration) (got outcome, shown *screen) {
	t.Helper()
	us, them, err := pty.Open()
	if err != nil {
		t.Skipf("waits for a machine with pseudo-terminals: %v", err)
	}
	defer func() { _, _ = us.Close(), them.Close() }()
	if err := pty.Setsize(us, &pty.Winsize{Rows: 24, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+10*patience)
	defer cancel()
	var stdout bytes.Buffer
	command := exec.CommandContext(ctx, binary, "ask", billedModel)
	command.Stdin, command.Stdout, command.Stderr = them, &stdout, them
	command.Env = append(command.Environ(), "TERM=xterm-256color")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	shown = new(screen)
	go func() { _, _ = io.Copy(struct{ io.Writer }{shown}, us) }() // ends in an error when the terminal is closed
	for _, k := range keys {
		shown.waitsFor(ctx, k.waitFor)
		time.Sleep(patience)
		if k.press == "TERM" {
			err = command.Process.Signal(syscall.SIGTERM)
		} else {
			_, err = us.WriteString(k.press)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = command.Wait() // an exit code is no matter here
	return outcome{code: command.ProcessState.ExitCode(), stdout: stdout.String()}, shown
}

// TestAskTerminal: in a terminal a wrong number is asked for again, values are
// chosen from a list, and an interrupt ends it.
func TestAskTerminal(t *testing.T) {
	for name, c := range map[string]struct {
		keys []key
		want outcome
	}{
		"answers": {
			// two down
			[]key{{"for 7 euros", "old\r"}, {"* a number", "\x7f\x7f\x7f20\r"}, {"(another value)", "\x1b[B\x1b[B\r"}},
			outcome{stdout: "p (p 1, n 0)\nleaf 3, after 2 tests for 9 euros\n  age: 20 (7 euros)\n  job: b (2 euros)\n"},
		},
		"a category that is typed": {
			keys: []key{{"for 7 euros", "20\r"}, {"(another value)", "b\r"}},
			want: outcome{stdout: "p (p 1, n 0)\nleaf 3, after 2 tests for 9 euros\n  age: 20 (7 euros)\n  job: b (2 euros)\n"},
		},
		"a category that is not listed": {
			keys: []key{{"for 7 euros", "20\r"}, {"(another value)", "zzz\r"}},
			want: outcome{stdout: "p (p 1, n 0)\nleaf 6, after 3 tests for 9 euros\n  age: 20 (7 euros for 2 tests)\n  job: zzz (2 euros)\n"},
		},
		"interrupt": {[]key{{"for 7 euros", "\x03"}}, outcome{code: 130}},
		"end":       {[]key{{"for 7 euros", "TERM"}}, outcome{code: 130}},
	} {
		t.Run(name, func(t *testing.T) {
			var got outcome
			var shown *screen
			for _, patience := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
				if got, shown = terminal(t, c.keys, patience); got == c.want {
					return
				}
			}
			shown.Lock()
			defer shown.Unlock()
			t.Errorf("exit code %d, want %d; stdout %s, want %s; terminal:\n%q", got.code, c.want.code, got.stdout,
				c.want.stdout, shown.String())
		})
	}
}

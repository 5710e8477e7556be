package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestPlainProgress: a long job is told of every ten seconds, with the time that
// is left; a short one once.
func TestPlainProgress(t *testing.T) {
	var out bytes.Buffer
	p := newPlain(&out)
	clock := time.Unix(1000, 0)
	p.now = func() time.Time { return clock }
	p.Job("summarise", 800, "row groups")
	for second := range 25 {
		p.Step(int64(10*second), "5 rows")
		clock = clock.Add(time.Second)
	}
	p.Step(800, "40 rows")
	p.Step(800, "40 rows") // told already
	p.Job("level 1", 4, "blocks")
	clock = clock.Add(10 * time.Second)
	p.Step(0, "")
	clock = clock.Add(9 * time.Second)
	p.Step(3, "")
	p.Step(4, "")
	p.Job("coalesce", 1, "row groups")
	p.Step(1, "958 rows")
	want := []string{
		"summarise: 12% of 800 row groups, 5 rows after 10s, about 1m10s left",
		"summarise: 25% of 800 row groups, 5 rows after 20s, about 1m0s left",
		"summarise: 800 row groups, 40 rows in 25.00 s",
		"level 1: 0% of 4 blocks after 10s",
		"level 1: 4 blocks in 19.00 s",
		"coalesce: 1 row group, 958 rows in 0.00 s",
	}
	if got := strings.Split(strings.TrimSpace(out.String()), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	out.Reset()
	none, err := newReporter("none", &out)
	if err != nil {
		t.Fatal(err)
	}
	none.Job("level 1", 4, "blocks")
	none.Step(2, "")
	none.Step(4, "")
	if out.Len() > 0 {
		t.Errorf("--progress none says %q", out.String())
	}
	none.Warn("beware")
	if out.String() != "warning: beware\n" {
		t.Errorf("the warning is %q", out.String())
	}
}

// TestBar: by hand. A bar of a brief reporter comes late and disappears; other bars stay, and nothing follows the
// last step of a job.
func TestBar(t *testing.T) {
	var out bytes.Buffer
	b := &bars{newPlain(&out)}
	clock := b.began
	b.now = func() time.Time { return clock }
	run := func() string {
		out.Reset()
		b.Job("level 1", 4, "blocks")
		b.Step(0, "")
		clock = clock.Add(3 * time.Second)
		b.Step(2, "5 rows")
		b.Step(4, "")
		b.Step(4, "")
		return out.String()
	}
	const empty, half = "\r\x1b[K", "level 1     50% |███████████████               | 2/4 blocks, about 3s left 5 rows"
	if got := run(); !strings.Contains(got, empty+half+empty) || !strings.HasSuffix(got, "| 4/4 blocks \n") ||
		strings.Count(got, "\n") != 1 {
		t.Errorf("a bar: %q", got)
	}
	b.brief, b.began = true, clock
	if got := run(); got != empty+half+empty {
		t.Errorf("a brief bar: %q, want one line that disappears", got)
	}
}

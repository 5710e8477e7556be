package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// newReporter returns the reporter that --progress names.
func newReporter(kind string, w io.Writer) (engine.Reporter, error) {
	switch kind {
	case progressAuto:
		p := newPlain(w)
		p.brief = true
		if isTerminal(w) {
			return &bars{plain: p}, nil
		}
		return p, nil
	case progressBar:
		return &bars{plain: newPlain(w)}, nil
	case progressPlain:
		return newPlain(w), nil
	case progressNone:
		return &plain{w: w}, nil
	default:
		return nil, usage.All(setting.Faults((&console{progress: kind, logFormat: logText}).printedSettings(false)))
	}
}

const (
	// tellEvery is the time between two lines about a long job.
	tellEvery = 10 * time.Second
	// quiet is the time after which a brief reporter shows progress: users who wait longer want to
	// know why.
	quiet = 2 * time.Second
)

// plain writes a line at the end of each job, and a line every tellEvery during a long job. A brief
// reporter only writes the latter lines, and no notes.
type plain struct {
	mu    sync.Mutex
	w     io.Writer
	jobs  bool // report jobs and notes; warnings are always reported
	brief bool
	now   func() time.Time
	began time.Time // when the reporter began
	name  string
	unit  string
	total int64
	start time.Time
	told  time.Time
}

func newPlain(w io.Writer) *plain { return &plain{w: w, jobs: true, now: time.Now, began: time.Now()} }

func (p *plain) Job(name string, total int64, unit string) {
	if !p.jobs {
		return
	}
	p.name, p.total, p.unit, p.start = name, total, unit, p.now()
	p.told = p.start
}

func (p *plain) Step(done int64, note string) {
	if !p.jobs || p.name == "" {
		return
	}
	if note != "" {
		note = ", " + note
	}
	took := p.now().Sub(p.start)
	if done >= p.total {
		if !p.brief {
			say(p.w, "%s: %s%s in %.2f s\n", p.name, p.steps(), note, took.Seconds())
		}
		p.name = ""
		return
	}
	if p.now().Sub(p.told) < tellEvery {
		return
	}
	p.told = p.now()
	say(p.w, "%s: %d%% of %s%s after %v%s\n", p.name, 100*done/p.total, p.steps(), note, took.Round(time.Second),
		timeLeft(done, p.total, took))
}

// steps returns the number of steps with its unit.
func (p *plain) steps() string {
	unit := p.unit
	if p.total == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return fmt.Sprintf("%d %s", p.total, unit)
}

// timeLeft estimates the remaining time of a job from the time it took so far.
func timeLeft(done, total int64, took time.Duration) string {
	if done <= 0 || done >= total {
		return ""
	}
	left := time.Duration(float64(took) * float64(total-done) / float64(done))
	return fmt.Sprintf(", about %v left", left.Round(time.Second))
}

func (p *plain) Warn(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	say(p.w, "warning: %s\n", text)
}

func (p *plain) Note(text string) {
	if p.jobs && !p.brief {
		p.mu.Lock()
		defer p.mu.Unlock()
		say(p.w, "%s\n", text)
	}
}

// bars draws a bar for each job. A brief reporter has a single line, which is overwritten and
// disappears at the end.
type bars struct{ *plain }

// barWidth is the width of a bar in characters: with the texts around it a line fits into 80 columns.
const barWidth = 30

func (b *bars) Step(done int64, note string) {
	if b.name == "" || b.brief && b.now().Sub(b.began) < quiet {
		return
	}
	full := int(barWidth * done / max(1, b.total))
	text := fmt.Sprintf("%-10s %3d%% |%s%s| %d/%s%s %s", b.name, 100*done/max(1, b.total),
		strings.Repeat("█", full), strings.Repeat(" ", barWidth-full), done, b.steps(),
		timeLeft(done, b.total, b.now().Sub(b.start)), note)
	if width := pageWidth(b.w); width > 0 { // a longer line would be wrapped, and not be overwritten
		text = runewidth.Truncate(text, width-1, "")
	}
	if done >= b.total {
		b.name = ""
		if text += "\n"; b.brief {
			text = ""
		}
	}
	_, _ = io.WriteString(raw(b.w), "\r\x1b[K"+text) // the run goes on even if the bar cannot be drawn
}

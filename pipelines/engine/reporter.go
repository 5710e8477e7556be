package engine

import (
	"sync"
)

// Reporter shows the progress of a run. Its methods are called from one goroutine at a time.
type Reporter interface {
	// Job starts a job of total steps; unit names the steps, in the plural.
	Job(name string, total int64, unit string)
	// Step shows how many steps of the job are done, and a note, which may be empty.
	Step(done int64, note string)
	// Warn shows a warning to the user.
	Warn(text string)
	// Note shows a remark to the user, such as the estimate before a run.
	Note(text string)
}

// oneAtATime calls the reporter of a run from one goroutine at a time.
type oneAtATime struct {
	mu     sync.Mutex
	r      Reporter
	warned map[string]bool
}

func (o *oneAtATime) Job(name string, total int64, unit string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.r.Job(name, total, unit)
}

func (o *oneAtATime) Step(done int64, note string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.r.Step(done, note)
}

// Warn shows a warning once: a run that reads its rows again does not repeat what it has said of them.
func (o *oneAtATime) Warn(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.warned[text] {
		o.r.Warn(text)
		o.warned[text] = true
	}
}

func (o *oneAtATime) Note(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.r.Note(text)
}

// OneAtATime returns a reporter that many goroutines may call at once; it calls r from one
// goroutine at a time. A nil reporter becomes Silent.
func OneAtATime(r Reporter) Reporter {
	if r == nil {
		r = Silent{}
	}
	return &oneAtATime{r: r, warned: make(map[string]bool)}
}

// Silent is a Reporter that shows nothing.
type Silent struct{}

// Job implements Reporter.
func (Silent) Job(string, int64, string) {}

// Step implements Reporter.
func (Silent) Step(int64, string) {}

// Warn implements Reporter.
func (Silent) Warn(string) {}

// Note implements Reporter.
func (Silent) Note(string) {}

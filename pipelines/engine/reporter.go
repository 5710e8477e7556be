package engine

import (
	"sync"
)

// Reporter shows progress. Its methods are called from one goroutine at a time.
type Reporter interface {
	// Job starts a job of total steps; unit names them.
	Job(name string, total int64, unit string)
	// Step says how many steps of the job are done, and a note on them.
	Step(done int64, note string)
	// Warn shows a warning to the user.
	Warn(text string)
	// Note tells the user what is worth knowing before a run.
	Note(text string)
}

// oneAtATime calls the reporter of a run from one goroutine at a time.
type oneAtATime struct {
	mu sync.Mutex
	r  Reporter
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

func (o *oneAtATime) Warn(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.r.Warn(text)
}

func (o *oneAtATime) Note(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.r.Note(text)
}

// OneAtATime returns the reporter of a run: one that tells nothing where there is
// none.
func OneAtATime(r Reporter) Reporter {
	if r == nil {
		r = Silent{}
	}
	return &oneAtATime{r: r}
}

// Silent tells nothing: a program that calls Train may want to hear nothing.
type Silent struct{}

// Job implements Reporter.
func (Silent) Job(string, int64, string) {}

// Step implements Reporter.
func (Silent) Step(int64, string) {}

// Warn implements Reporter.
func (Silent) Warn(string) {}

// Note implements Reporter.
func (Silent) Note(string) {}

// Package session does what every verb does before and after its own work: it checks the configuration,
// settles the engine, opens and closes the storage, opens the input, locks the run folder, removes
// scratch data, and reports an interruption as one. It is not meant for other programs.
package session

import (
	"context"
	"crypto/rand"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Setup is what a session begins with.
type Setup struct {
	Check   func() error // checks the configuration of the verb
	Runner  string       // name of the engine; not used without Input
	Input   *[]string    // files that jobs read; nil: jobs run in this process
	Others  []*string    // further files that workers access
	Storage source.Config
	Engine  engine.Config // the zero value: the defaults
}

// Session is the work of a verb, with the driver of its jobs and its storage.
type Session struct {
	*engine.Driver

	Temporary string // scratch folder in the memory of this process, which is removed at the end
}

// Run carries out the work of a verb. For an engine with workers in other processes it replaces relative
// paths of the setup by absolute ones.
func Run(
	ctx context.Context, c *Setup, reporter engine.Reporter, work func(ctx context.Context, s *Session) error,
) (err error) {
	defer func() { err = engine.OrInterrupted(ctx, err) }()
	if err := c.Check(); err != nil {
		return err
	}
	e := engine.Default()
	if c.Input != nil {
		if e, err = engine.Settle(ctx, &c.Engine, c.Runner, c.Input, c.Others...); err != nil {
			return err
		}
	}
	f := source.Begin(c.Storage)
	defer f.End()
	s := &Session{
		Driver:    &engine.Driver{Engine: e, Reporter: engine.OneAtATime(reporter), Files: f, Config: c.Engine},
		Temporary: NewFolder(),
	}
	defer f.Store.RemoveAll(context.WithoutCancel(ctx), s.Temporary) //nolint:errcheck // scratch in memory
	return work(f.Run.Context(ctx), s)
}

// NewFolder returns the name of a new folder in the memory of this process.
func NewFolder() string { return "mem://espalier-" + rand.Text() }

// Input opens the files of an input. Files without a row are an error.
func (s *Session) Input(ctx context.Context, patterns []string) (*source.Input, error) {
	in, err := s.OpenInput(ctx, patterns)
	if err == nil && len(in.Tasks) == 0 {
		err = &dataset.DataError{File: in.Files[0].URL, Problem: "no input file has a row", Hint: "check --input"}
	}
	return in, err
}

// Locked carries out work that holds the lock of a run folder. The context of the work ends when the lock
// is lost.
func (s *Session) Locked(ctx context.Context, folder string, work func(ctx context.Context) error) error {
	lock, locked, err := s.LockFolder(ctx, folder)
	if err != nil {
		return err
	}
	defer lock.Release(ctx)
	s.RunID = lock.Run
	return engine.OrInterrupted(locked, work(locked))
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/retraining"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// attempt is an attempt of a verb that a scheduler runs. The file of --open_metrics and a line in the file of
// --notices have its outcome, however early it ends.
type attempt struct {
	notice

	command *cobra.Command
	metrics string // file of figures; optional
	notices string // file; optional
	told    bool   // whether the file of figures is up to date
	figures figuresOf
}

// figuresOf writes figures of an attempt with an outcome to the file url; empty: to no file.
type figuresOf func(ctx context.Context, url, outcome string, started time.Time) error

// figuresFor returns what writes figures, given the values of settings.
type figuresFor func(valueOf func(name string) string) figuresOf

// notice is a line in the file of --notices.
type notice struct {
	Time     time.Time `json:"time"` // end of the attempt
	Verb     string    `json:"verb" jsonschema:"enum=retrain,enum=predict"`
	Day      string    `json:"day" jsonschema:"format=date"`
	Outcome  string    `json:"outcome" jsonschema:"enum=promoted,enum=backfilled,enum=held,enum=refused,enum=overtaken,enum=published,enum=failed,enum=interrupted"`
	Repeated bool      `json:"repeated"`         // whether an earlier attempt has done the same
	Run      string    `json:"run"`              // folder of the run; empty if there is no run
	Reason   string    `json:"reason,omitempty"` // why the attempt has failed or was refused; remarks
	ExitCode int       `json:"exit_code" jsonschema:"minimum=0,maximum=255"`
	Advice   string    `json:"advice" jsonschema:"enum=none,enum=report,enum=person,enum=wait,enum=again"` // see docs/production.md
	Seconds  float64   `json:"seconds" jsonschema:"minimum=0"`

	started time.Time
}

// scheduled carries out an attempt. url is the YAML file, which may be invalid, and section its key with the
// settings of the verb; empty: the file itself.
func scheduled(c *cobra.Command, url, section string, figures figuresFor, work func(a *attempt) error) (err error) {
	text, _ := source.ReadConfig(c.Context(), url) // without it, flags alone may name the files
	valueOf := func(name string) string { return valueIn(c, text, section, name) }
	a := &attempt{
		command: c, metrics: valueOf("open_metrics"), notices: valueOf("notices"), figures: figures(valueOf),
		notice: notice{Verb: c.Name(), started: time.Now()},
	}
	a.Day = (&config.Scheduled{Date: valueOf("date")}).Day(a.started).Format(time.DateOnly)
	_ = a.begin() // settled returns the error
	defer a.end(&err)
	return work(a)
}

// refusedFlags returns a function that reports an attempt whose flags are wrong.
func refusedFlags(section string, figures figuresFor) func(c *cobra.Command, err error) error {
	return func(c *cobra.Command, err error) error {
		if _, err := takeConfig(c, c.Flags().Args()); err != nil {
			return err
		}
		return scheduled(c, c.Flags().Lookup(configFlag).Value.String(), section, figures, func(*attempt) error { return flagError(c, err) })
	}
}

// settled takes the final settings. It returns an error if the file of figures is another program's, or the file of
// notices is no regular file. Figures that cannot be written are less important than the work, and are a warning.
func (a *attempt) settled(s *config.Scheduled) error {
	a.metrics = s.OpenMetrics
	a.notices = s.Notices
	a.Day = s.Day(a.started).Format(time.DateOnly)
	if err := regular(a.notices); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.notices = "" // the error says it already
		return usage.Errorf("--notices: %v", err)
	}
	err := a.begin()
	if err == nil || errors.As(err, new(*output.ForeignError)) {
		return err
	}
	say(a.command.ErrOrStderr(), "warning: %v; the work goes on without new figures\n", err)
	return nil
}

// regular returns an error if a file is no regular one, such as a pipe, which may block a writer forever.
func regular(file string) error {
	if file == "" {
		return nil
	}
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", file)
	}
	return err
}

// begin writes figures that stay if the process is killed.
func (a *attempt) begin() error {
	return a.figures(a.command.Context(), a.metrics, retraining.Running, a.started)
}

// end reports the end of an attempt, also by a panic.
func (a *attempt) end(err *error) {
	ctx := context.WithoutCancel(a.command.Context())
	panicked := recover()
	how, reason := ended(a.command.Context(), *err)
	if panicked != nil {
		how, reason = byNature[usage.Internal], internalError(panicked)
	}
	if how != done {
		a.Reason = naming.WithoutSecrets(reason)
	}
	switch {
	case how == interrupted:
		a.Outcome = retraining.Interrupted
	case a.Outcome == "" || panicked != nil:
		a.Outcome = retraining.Failed
	}
	a.ExitCode = how.code
	a.Advice = how.advice
	a.Time = time.Now().UTC()
	a.Seconds = time.Since(a.started).Seconds()
	if !a.told || panicked != nil {
		if failed := a.figures(ctx, a.metrics, a.Outcome, a.started); failed != nil {
			say(a.command.ErrOrStderr(), "warning: the figures of --open_metrics are old: %v\n", failed)
		}
	}
	if failed := a.append(a.notices); failed != nil {
		say(a.command.ErrOrStderr(), "warning: --notices: %v\n", failed)
	}
	if panicked != nil {
		panic(panicked)
	}
}

// append appends the notice to a file, as one write, so that lines of several processes stay whole.
func (n *notice) append(file string) error {
	if file == "" {
		return nil
	}
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := regular(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // other programs read it
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close())
}

// valueIn returns the value of a flag, or else of a key in the lines of a YAML file, which may be invalid.
func valueIn(c *cobra.Command, text []byte, section, name string) string {
	if f := c.Flags().Lookup(name); f.Changed {
		return f.Value.String()
	}
	indent := ""
	if section != "" {
		text = regexp.MustCompile(`(?m)^` + section + `:.*\n(?:(?:[ \t].*)?\n)*(?:[ \t].*)?`).Find(text)
		indent = `[ \t]+`
	}
	line := regexp.MustCompile(`(?m)^` + indent + name + `:[ \t]+["']?([^"'#\r\n]*[^"'#\s])`).FindSubmatch(text)
	if line == nil {
		return ""
	}
	return string(line[1])
}

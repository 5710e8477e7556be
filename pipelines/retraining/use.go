package retraining

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Use puts a run in use by a conditional write of LATEST.json, or changes how long the run in use is
// held. It returns the attempt as the history has it.
func Use(ctx context.Context, c config.Use, reporter engine.Reporter) (a *Attempt, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		a, err = use(ctx, s.Files.Store, &c, s.Reporter)
		return err
	})
	return a, err
}

// use is Use without a session. It takes no lock: LATEST.json moves by a conditional write, so an attempt of retrain at
// work ends as overtaken if it would promote its run.
func use(ctx context.Context, s *objectstore.Store, c *config.Use, reporter engine.Reporter) (*Attempt, error) {
	started := time.Now()
	history, err := readHistoryAndWarn(ctx, s, c.Destination, reporter.Warn)
	if err != nil {
		return nil, err
	}
	before, err := latest.Read(ctx, s, c.Destination)
	if err != nil {
		return nil, err
	}
	run, err := runNamed(ctx, s, c, history, before)
	if err != nil {
		return nil, err
	}
	if _, err := runfolder.ReadTree(ctx, s, objectstore.Join(c.Destination, run)); err != nil {
		return nil, usage.Errorf("the run %s cannot be used: %v", run, err)
	}
	next := latest.Pointer{Run: run, Promoted: started, Reason: c.Reason, Held: c.Hold}
	if last := newest(history, run); last != nil {
		next.Digest = last.Digest
		if last.Outcome == Refused {
			reporter.Warn(fmt.Sprintf("the gate has refused %s: %s", run, strings.Join(last.Refusals(), "; ")))
		}
	}
	if c.Hold == config.HoldNone {
		next.Held = ""
	}
	a := newAttempt(c.Destination, runfolder.Version(), dayOf(history, run, started), started)
	a.Mode = config.ModeUse
	a.Run = run
	a.Reason = next.Reason
	a.HeldTo = next.Held
	if before != nil {
		a.Before = before.Run
	}
	if c.DryRun {
		return a, nil
	}
	if err := register(ctx, s, c.Destination, run); err != nil {
		return nil, err
	}
	if err := a.write(ctx, s); err != nil { // a killed command leaves "running", as a killed retrain does
		return nil, err
	}
	now, err := latest.Promote(ctx, s, c.Destination, next, before)
	a.Seconds = time.Since(started).Seconds()
	switch {
	case err == nil:
		a.Outcome = Promoted
		a.Digest = now.Digest
	case errors.Is(err, latest.ErrOvertaken):
		a.Outcome = Overtaken
		a.Error = err.Error()
	default:
		a.Outcome = Failed
		a.Error = err.Error()
	}
	return a, errors.Join(err, a.write(context.WithoutCancel(ctx), s))
}

// runNamed returns the folder of the run that a person names, below the destination.
func runNamed(
	ctx context.Context, s *objectstore.Store, c *config.Use, history []*Attempt, before *latest.Pointer,
) (string, error) {
	switch {
	case before == nil && (c.Run == "" || c.Run == config.Previous):
		return "", usage.Errorf("%s has no run in use: name a run", c.Destination)
	case c.Run == "" && c.Hold == "":
		return "", usage.Errorf("name a run, or --hold the run in use: espalier retrain use %s RUN", c.Destination)
	case c.Run == "":
		return before.Run, nil
	case c.Run == config.Previous:
		if run := previous(history, before.Run); run != "" {
			return run, nil
		}
		return "", usage.Errorf("the history of %s has no run before %s: name a run", c.Destination, before.Run)
	}
	name := path.Base(strings.TrimRight(c.Run, "/"))
	if day, err := time.Parse(time.DateOnly, name); err == nil {
		if run := judgedOn(history, day.Format(time.DateOnly)); run != "" {
			return run, nil
		}
		return "", usage.Errorf("the history of %s has no run of %s that passed the gate: name its folder", c.Destination, name)
	}
	run := objectstore.Join(runsFolder, name)
	_, err := s.Stat(ctx, latest.TreeURL(objectstore.Join(c.Destination, run)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", usage.Errorf("%s has no run %s with a tree: espalier retrain use %s lists the runs", c.Destination, run, c.Destination)
	}
	return run, err
}

// previous returns the run that was in use before a run was put in use the last time; empty if unknown.
func previous(history []*Attempt, run string) string {
	for _, a := range slices.Backward(history) {
		if a.Outcome == Promoted && a.Run == run && a.Before != run {
			return a.Before
		}
	}
	return ""
}

// judgedOn returns the newest run of a day that has passed the gate; empty if absent.
func judgedOn(history []*Attempt, day string) string {
	for _, a := range slices.Backward(history) {
		if a.Date == day && slices.Contains([]string{Promoted, Backfilled, Held}, a.Outcome) {
			return a.Run
		}
	}
	return ""
}

// newest returns the newest attempt that has judged a run; nil if absent.
func newest(history []*Attempt, run string) *Attempt {
	for _, a := range slices.Backward(history) {
		if a.Run == run && a.Mode != config.ModeUse && a.Outcome != Running {
			return a
		}
	}
	return nil
}

// dayOf returns the day of a run as the history spells it; today if unknown.
func dayOf(history []*Attempt, run string, now time.Time) string {
	if day := DateOf(history, run); !day.IsZero() {
		return day.Format(time.DateOnly)
	}
	return now.UTC().Format(time.DateOnly)
}

// holdText describes the hold of the run in use, with its reason.
func holdText(p *latest.Pointer) string {
	text := " until " + p.Held
	if p.Held == latest.Forever {
		text = ""
	}
	if p.Reason != "" {
		text += " (" + p.Reason + ")"
	}
	return text
}

// Usable is a run of a destination.
type Usable struct {
	*Attempt // that has judged the run, the newest one

	InUse *latest.Pointer // nil if the run is not in use
}

// Runs returns the runs of a destination that still exist, the oldest first.
func Runs(ctx context.Context, c config.Use, reporter engine.Reporter) ([]Usable, error) {
	f := source.New(c.StorageConfig)
	history, err := readHistoryAndWarn(ctx, f.Store, c.Destination, reporter.Warn)
	if err != nil {
		return nil, err
	}
	now, err := latest.Read(ctx, f.Store, c.Destination)
	if err != nil {
		return nil, err
	}
	var list []Usable
	for _, a := range history {
		if a.Run == "" || newest(history, a.Run) != a {
			continue
		}
		if _, err := f.Store.Stat(ctx, latest.TreeURL(objectstore.Join(c.Destination, a.Run))); err != nil {
			continue // removed by --keep_runs
		}
		u := Usable{Attempt: a}
		if now != nil && now.Run == a.Run {
			u.InUse = now
		}
		list = append(list, u)
	}
	return list, nil
}

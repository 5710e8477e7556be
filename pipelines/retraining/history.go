package retraining

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// The outcomes of an attempt.
const (
	Running     = "running" // active, or killed
	Promoted    = gate.Promoted
	Backfilled  = gate.Backfilled
	Held        = gate.Held
	Refused     = gate.Refused
	Overtaken   = gate.Overtaken
	Failed      = "failed"      // see Error
	Interrupted = "interrupted" // by the user or the system
)

// judged lists the outcomes of attempts whose run the gate has judged.
func judged() []string { return []string{Promoted, Backfilled, Held, Refused} }

func outcomes() []string {
	return []string{Running, Promoted, Backfilled, Held, Refused, Overtaken, Failed, Interrupted}
}

const (
	attemptFormat  = "espalier/attempt"
	attemptVersion = 2 // since version 0.4: Cost is the billed cost
	historyFolder  = "history"
	runsFolder     = "runs"
	maxAttempt     = 1 << 24 // bytes
)

// Attempt is a document of the history.
type Attempt struct {
	Format   string `json:"format" jsonschema:"enum=espalier/attempt"`
	Version  int    `json:"version" jsonschema:"enum=1,enum=2"` // 1: of version 0.3 and before
	Espalier string `json:"espalier"`                           // version of the program
	Date     string `json:"date" jsonschema:"format=date"`
	// Key is the digest of the input files and the settings; empty: the files were not found, or the rows are of a pipeline.
	Key string `json:"key" jsonschema:"pattern=^([0-9a-f]{16})?$"`
	// Mode is what the attempt does. refit: the run has the tests of the run before, and new estimates; use: a person
	// has put the run in use.
	Mode    string    `json:"mode" jsonschema:"enum=train,enum=refit,enum=use"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds" jsonschema:"minimum=0"`
	// Outcome is the state of the attempt. running: active, or killed; backfilled: the run in use is of a later day, and
	// stays; held: a person holds the run in use.
	Outcome string `json:"outcome" jsonschema:"enum=running,enum=promoted,enum=backfilled,enum=held,enum=refused,enum=overtaken,enum=failed,enum=interrupted"`
	Run     string `json:"run"`    // folder of its run, below the destination; empty if there is no run
	Before  string `json:"before"` // run in use when the attempt began; empty if there was none
	// Digest is the digest of the run's tree.json; absent: it was not trained.
	Digest string `json:"tree_sha256,omitempty" jsonschema:"pattern=^[0-9a-f]{64}$"`
	Reason string `json:"reason,omitempty"`     // why a person has put the run in use
	HeldTo string `json:"held_until,omitempty"` // day until which retrain promotes no other run, or forever

	Files   int      `json:"files" jsonschema:"minimum=0"` // number of input files
	Missing []string `json:"missing"`                      // days without rows
	Rows    int64    `json:"rows" jsonschema:"minimum=0"`  // number of rows for training, validation and test
	AUC     *float64 `json:"auc" jsonschema:"nullable"`    // AUC of the new tree on its test rows; null if unknown
	// Cost is the expected cost of the new tree on its test rows, as in metrics.json; null if unknown. In documents of
	// version 1, the cost of the tests at their own prices.
	Cost   *float64     `json:"cost" jsonschema:"nullable"`
	Checks []gate.Check `json:"checks"`
	Error  string       `json:"error,omitempty"`

	// OwnPrices is the cost in a document of version 0.3: the cost of the tests at their own prices. Then
	// Cost is nil. OwnPrices is nil in other documents.
	OwnPrices *float64 `json:"-"`

	url        string
	generation string
	unchecked  bool // whether OpenHistory has just ended it as promoted: Checks may be absent, and the run is in use
}

// write writes the attempt, replacing its earlier form.
func (a *Attempt) write(ctx context.Context, s *objectstore.Store) error {
	shown := *a
	shown.Error = naming.WithoutSecrets(a.Error)
	shown.Checks = slices.Clone(a.Checks)
	for i := range shown.Checks {
		shown.Checks[i].Text = naming.WithoutSecrets(a.Checks[i].Text)
	}
	b, err := json.MarshalIndent(&shown, "", "  ")
	if err != nil {
		return err
	}
	bound := objectstore.WriteOptions{IfAbsent: true}
	if a.generation != "" {
		bound = objectstore.WriteOptions{IfGeneration: a.generation}
	}
	if a.generation, err = objectstore.WriteSeen(ctx, s, a.url, append(b, '\n'), bound); err != nil {
		return usage.Errorf("--destination: the history: %v", err)
	}
	return nil
}

// Refusals lists the reasons for which the gate has refused the run.
func (a *Attempt) Refusals() []string { return gate.Refusals(a.Checks) }

// refusedAtOwnPrices reports whether version 0.3 has refused the run for its cost, which was the cost of the
// tests at their own prices.
func (a *Attempt) refusedAtOwnPrices() bool {
	return a.Version < attemptVersion && a.Outcome == Refused &&
		slices.ContainsFunc(a.Checks, func(c gate.Check) bool { return c.Check == "max_cost_ratio" && !c.Passed })
}

// readHistory returns all attempts, the oldest first. Documents that cannot be used are left out, each with a note.
func readHistory(ctx context.Context, s *objectstore.Store, destination string) (list []*Attempt, notes []string, err error) {
	files, err := s.List(ctx, objectstore.Join(destination, historyFolder)+"/*.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, usage.Errorf("--destination: %v", err)
	}
	all := make([]*Attempt, len(files))
	faults := make([]string, len(files))
	err = parallel.AtOnce(len(files), func(i int) (err error) {
		all[i], faults[i], err = readAttempt(ctx, s, destination, files[i])
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for i, a := range all {
		if faults[i] == "" {
			list = append(list, a)
		} else {
			notes = append(notes, files[i].URL+" is left out of the history: "+faults[i])
		}
	}
	slices.SortFunc(list, func(a, b *Attempt) int { return strings.Compare(a.url, b.url) })
	return list, notes, nil
}

// readHistoryAndWarn is readHistory, and reports the notes as warnings.
func readHistoryAndWarn(ctx context.Context, s *objectstore.Store, destination string, warn func(string)) ([]*Attempt, error) {
	list, notes, err := readHistory(ctx, s, destination)
	for _, note := range notes {
		warn(note)
	}
	return list, err
}

// OpenHistory returns all attempts, the oldest first, and ends the attempts that were killed. The caller has the lock of
// the destination.
func OpenHistory(ctx context.Context, s *objectstore.Store, destination string, warn func(string)) ([]*Attempt, error) {
	list, err := readHistoryAndWarn(ctx, s, destination, warn)
	if err != nil {
		return nil, err
	}
	return list, closeKilled(ctx, s, destination, list)
}

// Begin returns the attempt of a day that began at a time: from the history if it is known there, otherwise a new one.
func Begin(history []*Attempt, destination, date string, started time.Time) *Attempt {
	a := newAttempt(destination, runfolder.Version(), date, started)
	for _, known := range history {
		if path.Base(known.url) == path.Base(a.url) {
			return known
		}
	}
	return a
}

// Continue sets Before of an attempt to the run that was in use before an earlier attempt at the same work, which was
// killed after it was promoted.
func (a *Attempt) Continue(history []*Attempt) {
	for _, earlier := range history {
		if earlier.Date == a.Date && earlier.Key == a.Key && earlier.Run == a.Before {
			a.Before = earlier.Before
		}
	}
}

// Judged reports whether the attempt has come to an end at which its run was judged. It is false for an attempt that
// OpenHistory has just ended as promoted: a retry judges the run again, because the checks may be absent.
func (a *Attempt) Judged() bool {
	return !a.unchecked && slices.Contains(append(judged(), Overtaken), a.Outcome)
}

// Record writes the attempt to the history and, before the run is judged, its manifest to the register.
func (a *Attempt) Record(ctx context.Context, s *objectstore.Store, destination string) error {
	if a.Outcome == Running {
		if err := register(ctx, s, destination, a.Run); err != nil {
			return err
		}
	}
	return a.write(ctx, s)
}

// closeKilled ends attempts that were killed, whose outcome is still Running: as promoted if LATEST.json names their run,
// otherwise as interrupted. The lock of the destination shows that no attempt of retrain is active.
func closeKilled(ctx context.Context, s *objectstore.Store, destination string, history []*Attempt) error {
	for _, a := range history {
		if a.Outcome != Running || a.Mode == config.ModeUse || a.Version < attemptVersion {
			continue
		}
		now, err := latest.Read(ctx, s, destination)
		if err != nil {
			return err
		}
		a.Outcome = Interrupted
		a.Error = "killed"
		if now != nil && now.Run == a.Run && now.Digest == a.Digest {
			a.Outcome = Promoted
			a.Error = "killed after it was promoted"
			a.Seconds = max(a.Seconds, now.Promoted.Sub(a.Started).Seconds())
			a.unchecked = true
		}
		if err := a.write(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// readAttempt reads a document of the history. fault says why the document cannot be used; empty: it can.
func readAttempt(ctx context.Context, s *objectstore.Store, destination string, file objectstore.Object) (a *Attempt, fault string, err error) {
	b, err := s.ReadAll(ctx, file.URL, maxAttempt)
	if err != nil {
		return nil, "", usage.Errorf("--destination: %v", err)
	}
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	a = &Attempt{url: file.URL, generation: file.Generation}
	known := json.Unmarshal(b, &head) == nil && head.Format == attemptFormat
	switch {
	case !known:
		return nil, "not a document of a retraining; it may be damaged", nil
	case head.Version > attemptVersion:
		return nil, fmt.Sprintf("a newer version of Espalier has written it (version %d of the format, expected at most %d)", head.Version,
			attemptVersion), nil
	}
	known = json.Unmarshal(b, a) == nil && slices.Contains(outcomes(), a.Outcome)
	if !known {
		return nil, fmt.Sprintf("its outcome is %q: a newer version of Espalier may have written it, or it is damaged", a.Outcome), nil
	}
	if a.Version < attemptVersion {
		a.OwnPrices = a.Cost
		a.Cost = nil
	}
	if err := a.checkNames(s, destination); err != nil {
		return nil, err.Error(), nil //nolint:nilerr // a note
	}
	return a, "", nil
}

// checkNames returns an error for an attempt that names runs outside the destination.
func (a *Attempt) checkNames(s *objectstore.Store, destination string) error {
	for _, run := range []string{a.Run, a.Before} {
		if run == "" {
			continue
		}
		if _, err := s.Within(destination, run); err != nil {
			return err
		}
	}
	return nil
}

// DateOf returns the day of a run, from the history or from its name; the zero time if unknown.
func DateOf(history []*Attempt, run string) time.Time {
	date := path.Base(run)
	date = date[:min(len(date), len(time.DateOnly))]
	for _, a := range history {
		if a.Run == run {
			date = a.Date
		}
	}
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return time.Time{}
	}
	return day
}

// newAttempt begins an attempt.
func newAttempt(destination, version, date string, started time.Time) *Attempt {
	name := fmt.Sprintf("%s-%s.json", started.UTC().Format("20060102T150405.000000Z"), date)
	return &Attempt{
		Format: attemptFormat, Version: attemptVersion, Espalier: version, Date: date, Started: started.UTC(),
		Mode: config.ModeTrain, Outcome: Running, Missing: []string{}, Checks: []gate.Check{}, url: objectstore.Join(destination, historyFolder, name),
	}
}

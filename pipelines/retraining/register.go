package retraining

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// registerFolder contains the manifest of each run, also after --keep_runs has removed the run. The
// history has the digests of the trees.
const registerFolder = "register"

// registered returns the URL of the manifest of a run in the register.
func registered(destination, run string) string {
	return objectstore.Join(destination, registerFolder, path.Base(run)+".json")
}

// register copies the manifest of a run to the register.
func register(ctx context.Context, s *objectstore.Store, destination, run string) error {
	b, err := s.ReadAll(ctx, objectstore.Join(destination, run, runfolder.ManifestName), runfolder.MaxModel)
	if err == nil {
		err = s.Put(ctx, registered(destination, run), b, objectstore.WriteOptions{})
	}
	if err != nil && ctx.Err() == nil {
		return usage.Errorf("--destination: the register of runs: %v", err)
	}
	return err
}

// Traced describes a tree in the history and the register of a destination.
type Traced struct {
	Attempt  *Attempt            // attempt that trained the tree
	Manifest *runfolder.Manifest // manifest of its run; nil if lost
	Removed  bool                // whether --keep_runs has removed the run
	Uses     []Period            // when the tree was in use
	Notes    []string            // documents of the history that cannot be used
}

// Period is a time for which a run was in use.
type Period struct {
	From   time.Time  `json:"from"`
	Until  *time.Time `json:"until" jsonschema:"nullable"` // null: the tree is in use
	Reason string     `json:"reason,omitempty"`            // why a person has put the run in use
}

// Trace returns the record of a tree in a destination, by the digest of the tree and the name of its
// run, one of which may be empty; nil if the history has neither. If it has only the run, the attempt
// of the record has another digest.
func Trace(ctx context.Context, s *objectstore.Store, destination, digest, run string) (*Traced, error) {
	history, notes, err := readHistory(ctx, s, destination)
	if err != nil {
		return nil, err
	}
	named := func(a *Attempt) bool { return run != "" && path.Base(a.Run) == run }
	made := func(a *Attempt) bool { return digest != "" && a.Digest == digest }
	var found *Attempt
	both := func(a *Attempt) bool { return named(a) && made(a) }
	for _, matches := range []func(a *Attempt) bool{both, made, named} {
		for _, a := range slices.Backward(history) {
			if a.Run != "" && matches(a) && (found == nil || found.Mode == config.ModeUse && a.Mode != config.ModeUse) {
				found = a
			}
		}
		if found != nil {
			break
		}
	}
	if found == nil {
		return nil, nil //nolint:nilnil // absent
	}
	r := &Traced{Attempt: found, Uses: uses(history, found), Notes: notes}
	r.Manifest, err = readManifest(ctx, s, objectstore.Join(destination, found.Run, runfolder.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		r.Removed = true
		r.Manifest, err = readManifest(ctx, s, registered(destination, found.Run))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r, err
}

// readManifest reads the manifest of a run.
func readManifest(ctx context.Context, s *objectstore.Store, url string) (*runfolder.Manifest, error) {
	b, err := s.ReadAll(ctx, url, runfolder.MaxModel)
	if err != nil {
		return nil, err
	}
	m := new(runfolder.Manifest)
	if err := json.Unmarshal(b, m); err != nil || m.Format != runfolder.ManifestFormat {
		return nil, usage.Errorf("%s is not the manifest of a run", url)
	}
	return m, nil
}

// uses lists when the tree of an attempt was in use.
func uses(history []*Attempt, of *Attempt) []Period {
	var list []Period
	for _, a := range history {
		if a.Outcome != Promoted {
			continue
		}
		at := a.Started.Add(time.Duration(a.Seconds * float64(time.Second)))
		inUse := len(list) > 0 && list[len(list)-1].Until == nil
		same := a.Run == of.Run && (a.Digest == of.Digest || of.Digest == "")
		switch {
		case same && !inUse:
			list = append(list, Period{From: at, Reason: a.Reason})
		case !same && inUse:
			list[len(list)-1].Until = &at
		}
	}
	return list
}

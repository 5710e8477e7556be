package provenance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// The kinds of files.
const (
	Predictions = "predictions"
	Run         = "run" // a run folder, or a file that its manifest lists
	Tree        = "tree"
	Text        = "text" // a report, a model card or an export
)

// Origin is the tree that made a file, with the rows and the settings that made the tree.
type Origin struct {
	Format  string `json:"format" jsonschema:"enum=espalier/origin"`
	Version int    `json:"version" jsonschema:"enum=1"`
	File    string `json:"file"` // the file or folder, as given by the user
	// Kind is the kind of the file. run: a run folder or one of its documents; text: a report, a model card or an export.
	Kind     string `json:"kind" jsonschema:"enum=predictions,enum=run,enum=tree,enum=text"`
	Digest   string `json:"tree_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"` // digest of the tree.json
	Run      string `json:"run"`                                             // name of the run; empty if unknown
	Espalier string `json:"espalier"`                                        // version of the program that wrote the file; empty if unknown

	// Predictions is the manifest of the predictions; null for other files, or if unknown.
	Predictions *runfolder.PredictionsManifest `json:"predictions" jsonschema:"nullable"`
	// Input is the file whose rows a single file of predictions is about; null if unknown.
	Input *runfolder.Input `json:"input" jsonschema:"nullable"`

	Also []Also `json:"also"` // further trees of the predictions, by --also of predict

	Folder  string `json:"folder"`  // URL of the run; empty if unknown
	Removed bool   `json:"removed"` // whether the run was removed, by --keep_runs or by hand
	// Training is the manifest of the run, with rows and settings; null if unknown.
	Training *runfolder.Manifest `json:"training" jsonschema:"nullable"`
	AUC      *float64            `json:"auc" jsonschema:"nullable"`  // AUC of the tree on test rows; null if unknown
	Cost     *float64            `json:"cost" jsonschema:"nullable"` // expected cost of the tree on test rows; null if unknown

	// Attempt is the attempt of retrain that trained the tree; null without retrain, or if unknown.
	Attempt *retraining.Attempt `json:"attempt" jsonschema:"nullable"`
	Used    []retraining.Period `json:"used"` // when retrain or a person had the tree in use
	Notes   []string            `json:"notes"`

	tree string // URL of the tree; empty if unknown
}

// Also is a further tree of predictions.
type Also struct {
	Digest string `json:"tree_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"` // digest of the tree.json
	Run    string `json:"run"`                                             // name of the run; empty if unknown
	Prefix string `json:"prefix"`                                          // prefix of its columns
}

// Trace returns the origin of a file. destination is the destination of retrain whose history has the tree; empty: the
// destination of the run that the file names.
func Trace(ctx context.Context, s *objectstore.Store, file, destination string) (*Origin, error) {
	o := &Origin{
		Format: "espalier/origin", Version: 1, File: file, Also: []Also{}, Used: []retraining.Period{}, Notes: []string{},
	}
	if err := o.identify(ctx, s); err != nil {
		return nil, err
	}
	if err := o.readRun(ctx, s); err != nil {
		return nil, err
	}
	return o, o.readRecord(ctx, s, destination)
}

// Encode returns the origin as a JSON document.
func (o *Origin) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(o, "", "  ")
	return append(b, '\n'), err
}

// readRun reads what the run folder has about the tree, if the folder is there.
func (o *Origin) readRun(ctx context.Context, s *objectstore.Store) error {
	if o.Folder == "" {
		return nil
	}
	_, err := s.Stat(ctx, objectstore.Join(o.Folder, runfolder.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return usage.Errorf("%v", err)
	}
	r, err := runfolder.Read(ctx, s, o.Folder, runfolder.Training, runfolder.ManifestName, runfolder.MetricsName)
	if err != nil {
		return err
	}
	o.Training = r.Manifest
	switch m := r.Metrics.Test; {
	case o.isAt(ctx, s, objectstore.Join(o.Folder, runfolder.TreeName)):
		if m != nil {
			o.AUC = m.AUCOvRMacro
			o.Cost = m.ExpectedCost
		}
	case o.isAt(ctx, s, o.tree):
		o.note("the tree is another tree of the run's frontier")
	default:
		o.note("the run now has another tree than the tree that made the file")
	}
	return ctx.Err()
}

// isAt reports whether a file is the tree.
func (o *Origin) isAt(ctx context.Context, s *objectstore.Store, url string) bool {
	b, err := s.ReadAll(ctx, url, runfolder.MaxModel)
	return err == nil && tree.Digest(b) == o.Digest
}

// readRecord reads what a destination of retrain has about the tree.
func (o *Origin) readRecord(ctx context.Context, s *objectstore.Store, destination string) error {
	at := cmp.Or(destination, runfolder.DestinationOf(o.Folder))
	if at == "" {
		return nil
	}
	r, err := retraining.Trace(ctx, s, at, o.Digest, o.Run)
	if err != nil {
		return err
	}
	if r == nil && destination != "" && o.Training == nil {
		return usage.Errorf("%s was made by the tree %s, which is not in the history of %s", o.File, o.Digest, destination)
	}
	if r == nil {
		return nil
	}
	o.Attempt = r.Attempt
	o.Notes = append(o.Notes, r.Notes...)
	if r.Attempt.Digest != o.Digest {
		o.note("the history has the run, with another tree than the tree that made the file")
	} else {
		o.AUC, o.Cost, o.Used = r.Attempt.AUC, cmp.Or(r.Attempt.Cost, o.Cost), r.Uses
		if old := r.Attempt.OwnPrices; old != nil {
			o.note(fmt.Sprintf("the history's record is of version 0.3: its cost, %.3g, has each test at its own price", *old))
		}
	}
	if o.Training == nil {
		o.Run, o.Folder = path.Base(r.Attempt.Run), objectstore.Join(at, r.Attempt.Run)
		o.Training = r.Manifest
		o.Removed = r.Removed
	}
	return nil
}

func (o *Origin) note(text string) { o.Notes = append(o.Notes, text) }

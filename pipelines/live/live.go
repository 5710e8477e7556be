// Package live measures predictions by labels that come later. It is not meant for other programs.
//
// Predictions and labels are joined by a hash table in memory. The table holds the key of each
// prediction, in about 200 bytes, and with leaf models the probabilities of each row. Labels are read by
// row group, and only counted.
package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/retraining"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Evaluate measures the trees that have made predictions, by labels. It writes the file of --output.
func Evaluate(ctx context.Context, c config.Evaluate, reporter engine.Reporter) (l *runfolder.Live, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		kind := output.Kind{Own: runfolder.IsLive, Is: "document of live figures", Another: "other live figures"}
		file, err := output.Open(ctx, s.Files.Store, c.Output, c.Overwrite, kind)
		if err != nil {
			return err
		}
		j := &join{Session: s, config: &c, trees: make(map[string]*scored), manifests: make(map[string]*runfolder.PredictionsManifest)}
		if l, err = j.run(ctx); err != nil {
			return err
		}
		return file.Encode(ctx, l.Encode)
	})
	return l, err
}

// join is one join of predictions and labels.
type join struct {
	*session.Session

	config      *config.Evaluate
	predictions *source.Input
	labels      *source.Input
	spec        *jobs.RowSpec                             // label and weight of the labels
	trees       map[string]*scored                        // by digest
	manifests   map[string]*runfolder.PredictionsManifest // by folder; nil if the folder has none
	joined      int64                                     // labels with a prediction
	alone       int64                                     // labels without a prediction
	stranger    string                                    // the first key without a prediction
}

// anyLag accepts predictions of any age.
const anyLag = 1 << 20

func (j *join) run(ctx context.Context) (*runfolder.Live, error) {
	in := source.Days{Patterns: j.config.Predictions, MaxLag: anyLag}
	w, err := in.Open(ctx, j.Files, j.config.Day(time.Now()))
	if err == nil {
		j.predictions, err = j.OpenInput(ctx, w.Patterns)
	}
	if err != nil {
		return nil, usage.Renamed(err, "input", "predictions")
	}
	if len(w.Missing) > 0 {
		j.Reporter.Warn("days without predictions: " + strings.Join(w.Missing, ", "))
	}
	if j.labels, err = j.OpenInput(ctx, j.config.Labels); err != nil {
		return nil, usage.Renamed(err, "input", "labels")
	}
	if err := j.readPredictions(ctx); err != nil {
		return nil, err
	}
	if err := j.specify(ctx); err != nil {
		return nil, err
	}
	if err := j.readLabels(ctx); err != nil {
		return nil, err
	}
	l := runfolder.NewLive()
	l.Key = j.config.Key
	l.Label = j.spec.Label
	l.Weight = j.spec.Weight
	l.Alone = j.alone
	l.Missing = append(l.Missing, w.Missing...)
	l.Trees = j.measure()
	j.warnOfStrangers()
	return l, nil
}

// warnOfStrangers warns if no label belongs to a prediction, which their keys may explain: 00003 is not 3.
func (j *join) warnOfStrangers() {
	if j.joined > 0 || j.alone == 0 {
		return
	}
	least := ""
	for _, t := range j.trees {
		for key := range t.rows {
			if least == "" || key < least {
				least = key
			}
		}
	}
	if least != "" {
		j.Reporter.Warn(fmt.Sprintf("no label has the key of a prediction: a label has %q, a prediction %q; if they are of "+
			"the same rows, spell the keys in one way", j.stranger, least))
	}
}

// specify finds the columns of the labels, and the unit of their weights.
func (j *join) specify(ctx context.Context) error {
	label, err := j.labelColumn(ctx)
	if err != nil {
		return err
	}
	j.spec = &jobs.RowSpec{
		Label: label, Weight: j.config.Weight, DropNullLabels: true,
		Parting: dataset.Parting{Shares: dataset.Shares{dataset.Test: 1}},
	}
	err = hasColumn(j.labels, "labels", "label", j.spec.Label)
	if err == nil {
		err = hasColumn(j.labels, "labels", "weight", j.spec.Weight)
	}
	if err != nil {
		return err
	}
	return j.CountWeights(ctx, j.labels.Tasks, j.Temporary, j.spec)
}

// hasColumn returns a usage error if no file of a side has the column that a flag names; empty: none.
func hasColumn(in *source.Input, side, flag, name string) error {
	for _, file := range in.ByName {
		if _, ok := file[name]; ok || name == "" {
			return nil
		}
	}
	return usage.Errorf("--%s: the files of --%s have no column %q%s", flag, side, name, setting.Hint(name, in.Names()))
}

// labelColumn returns the column of the true classes: as in training, unless a flag names it. If
// --keep_runs has removed the run, the register has its label.
func (j *join) labelColumn(ctx context.Context) (string, error) {
	if j.config.Label != "" {
		return j.config.Label, nil
	}
	digests := slices.Sorted(maps.Keys(j.trees))
	for _, digest := range digests {
		if found, err := runfolder.ReadTree(ctx, j.Files.Store, j.trees[digest].model); err == nil {
			return found.Label.Column, nil
		}
	}
	for _, digest := range digests {
		if label := j.registeredLabel(ctx, j.trees[digest]); label != "" {
			return label, nil
		}
	}
	return "", usage.Errorf("--label: name the column of the classes in the files of --labels: the tree of %s cannot be read, as if "+
		"keep_runs has removed the run, and no register has its label", j.trees[digests[0]].Run)
}

// registeredLabel returns the label of a tree by the register of its destination; empty if unknown.
func (j *join) registeredLabel(ctx context.Context, t *scored) string {
	destination := runfolder.DestinationOf(runfolder.FolderOf(t.model))
	if destination == "" {
		return ""
	}
	found, err := retraining.Trace(ctx, j.Files.Store, destination, t.Digest, t.Run)
	if err != nil || found == nil || found.Manifest == nil {
		return ""
	}
	settings, _ := found.Manifest.Config.(map[string]any)
	label, _ := settings["label"].(string)
	return label
}

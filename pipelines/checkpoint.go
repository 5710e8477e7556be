package pipelines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/transforms"
)

const (
	checkpointFolder = "checkpoints" // in the run folder, until the run has finished
	checkpointFile   = "state.json"
	scratchFolder    = "scratch" // in the checkpoint folder
	checkpointFormat = "espalier/checkpoint"
	maxCheckpoint    = 1 << 30
)

// checkpoint is what a run that grows its tree by levels has finished: written
// after the rows were coalesced and after each level, whole or not at all.
type checkpoint struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Espalier string `json:"espalier"`

	// What the tree depends on: a run with other values must not go on from here.
	Config map[string]any  `json:"config"`
	Costs  string          `json:"costs"` // digest of the costs file
	Inputs []ManifestInput `json:"inputs"`

	PerClass map[string]string `json:"per_class,omitempty"` // digests of the files about classes, by flag

	Blocks   string                                `json:"blocks"` // folder of the object blocks in the checkpoint folder
	RowStats *transforms.RowStats                  `json:"row_stats"`
	Spec     *transforms.RowSpec                   `json:"spec"`
	Constant []string                              `json:"constant"` // columns that are no features
	Features []byte                                `json:"features"` // see dataset.EncodeFeatures
	Classes  []string                              `json:"classes"`
	Objects  [dataset.Parts]transforms.ObjectStats `json:"objects"`

	Grown  []*induce.Node `json:"grown,omitempty"` // the trees of the grid that are finished
	Growth *induce.Growth `json:"growth"`          // of the next one; none: all are
}

// free are settings that may differ between a run and its resumption: the tree
// does not depend on them.
var free = []string{ //nolint:gochecknoglobals // a constant list
	"output", "overwrite", "resume", "runner", "memory_objects", "histogram_memory", "levels_per_job", "deadline",
	"read_ahead", "storage_timeout", "job_timeout", "dry_run",
}

// fixed returns the settings that the tree depends on.
func (c *TrainConfig) fixed() (map[string]any, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	settings := make(map[string]any)
	if err := json.Unmarshal(b, &settings); err != nil {
		return nil, err
	}
	maps.DeleteFunc(settings, func(name string, _ any) bool { return slices.Contains(free, name) })
	return settings, nil
}

func (t *training) checkpointURL(elem ...string) string {
	return objectstore.Join(t.config.Output, append([]string{checkpointFolder}, elem...)...)
}

// begin decides where object blocks lie: in memory if all nodes are grown there,
// else in the checkpoint folder. c is the checkpoint of an unfinished run in the
// output folder, or nil; it is taken up if the run is told to.
func (t *training) begin(ctx context.Context, c *checkpoint) error {
	switch {
	case c != nil && t.config.Resume:
		return t.restore(ctx, c)
	case c != nil && !t.config.Overwrite:
		return usagef("--output %s has an unfinished run: go on with --resume, or replace it with --overwrite", t.config.Output)
	case t.config.Resume:
		t.jobs.reporter.Warn("there is no checkpoint to resume from: the run starts anew")
	}
	t.checkpoints, t.blocks = t.config.MemoryObjects >= 0 || !isLocal(t.config.Runner), t.scratch+"/blocks"
	if c == nil && !t.checkpoints {
		return nil
	}
	if t.checkpoints {
		t.blocks = t.checkpointURL(uuid.NewString())
	}
	if err := t.files.store.RemoveAll(ctx, t.checkpointURL()); err != nil {
		return usagef("--output: %v", err)
	}
	return nil
}

// readCheckpoint returns the checkpoint of an unfinished run in a run folder,
// or nil.
func readCheckpoint(ctx context.Context, f *files, output string) (*checkpoint, error) {
	url := objectstore.Join(output, checkpointFolder, checkpointFile)
	b, err := f.store.ReadAll(ctx, url, maxCheckpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no checkpoint is no fault
	}
	if err != nil {
		return nil, usagef("--output: %v", err)
	}
	c := new(checkpoint)
	if err := json.Unmarshal(b, c); err != nil || c.Format != checkpointFormat || c.Version != 1 || !c.whole() {
		return nil, usagef("--output: %s is no checkpoint of this version of Espalier: start anew with --overwrite", url)
	}
	return c, nil
}

// whole reports whether a checkpoint has what restore needs.
func (c *checkpoint) whole() bool {
	return c.RowStats != nil && c.Spec != nil && (c.Growth == nil || len(c.Growth.Root.Class) == len(c.Classes))
}

// restore takes over what a checkpoint says, if it is of the same input and
// configuration.
func (t *training) restore(ctx context.Context, c *checkpoint) error {
	if err := t.same(c); err != nil {
		return err
	}
	t.checkpoints, t.blocks = true, t.checkpointURL(c.Blocks)
	if err := t.files.store.RemoveAll(ctx, t.checkpointURL(scratchFolder)); err != nil { // of the run before
		return usagef("--output: %v", err)
	}
	t.rowStats, t.spec, t.classes = c.RowStats, *c.Spec, c.Classes
	t.schema.rows.WeightScale = c.Spec.WeightScale
	t.schema.markConstant(c.Constant)
	if err := t.describeLabel(); err != nil {
		return err
	}
	var err error
	if t.features, err = dataset.DecodeFeatures(c.Features); err != nil {
		return err
	}
	t.objects = &c.Objects
	for part := range t.objects {
		for i, name := range t.objects[part].Blocks {
			t.objects[part].Blocks[i] = objectstore.Join(t.blocks, name)
		}
	}
	return nil
}

// same refuses a checkpoint of another version, input or configuration, and
// says which.
func (t *training) same(c *checkpoint) error {
	changed := func(what string) error {
		return usagef("--resume: %s since the run in %s began: undo that, or start anew with --overwrite", what, t.config.Output)
	}
	if c.Espalier != Version {
		return changed(fmt.Sprintf("Espalier has become version %s instead of %s", Version, c.Espalier))
	}
	settings, err := t.config.fixed()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !reflect.DeepEqual(settings[name], c.Config[name]) {
			return changed(fmt.Sprintf("--%s has become %v instead of %v", name, settings[name], c.Config[name]))
		}
	}
	if t.costs.digest != c.Costs {
		return changed("the costs file has changed")
	}
	digests := t.perClass.digests()
	for _, flag := range slices.Sorted(maps.Keys(digests)) {
		if digests[flag] != c.PerClass[flag] {
			return changed(fmt.Sprintf("the file of --%s has changed", flag))
		}
	}
	inputs := t.input.manifest()
	for i := range max(len(inputs), len(c.Inputs)) {
		switch {
		case i >= len(inputs):
			return changed("the input file " + c.Inputs[i].URL + " is gone")
		case i >= len(c.Inputs):
			return changed("the input file " + inputs[i].URL + " was added")
		case inputs[i] != c.Inputs[i]:
			return changed("the input file " + inputs[i].URL + " was added or has changed")
		}
	}
	return nil
}

// save writes a checkpoint of the tree so far and its open nodes.
func (t *training) save(ctx context.Context, g *induce.Growth) error {
	if !t.checkpoints {
		return nil
	}
	settings, err := t.config.fixed()
	if err != nil {
		return err
	}
	c := checkpoint{
		Format: checkpointFormat, Version: 1, Espalier: Version, Config: settings, Costs: t.costs.digest, Inputs: t.input.manifest(), PerClass: t.perClass.digests(),
		Blocks: strings.TrimPrefix(t.blocks, t.checkpointURL()+"/"), RowStats: t.rowStats, Spec: &t.spec, Constant: t.schema.constant(),
		Features: dataset.EncodeFeatures(t.features), Classes: t.classes, Objects: *t.objects, Grown: t.roots, Growth: g,
	}
	for part := range c.Objects {
		c.Objects[part].Blocks = nil
		for _, url := range t.objects[part].Blocks {
			c.Objects[part].Blocks = append(c.Objects[part].Blocks, strings.TrimPrefix(url, t.blocks+"/"))
		}
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := t.files.put(ctx, t.checkpointURL(checkpointFile), b, objectstore.WriteOptions{}); err != nil {
		return usagef("--output: %v", err)
	}
	return nil
}

// discard removes the checkpoint folder of a run that has finished, or that has
// come to no checkpoint.
func (t *training) discard(ctx context.Context) error {
	if !t.checkpoints {
		return nil
	}
	return t.files.store.RemoveAll(context.WithoutCancel(ctx), t.checkpointURL())
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

package train

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// journal writes the checkpoints of a run, and removes them in the end.
type journal struct {
	plan       *plan
	files      *source.Files
	blocks     string // folder of the run's object blocks and scratch
	on         bool   // whether the run writes checkpoints
	generation string // generation of state.json; empty if absent
	resumable  bool   // whether state.json has objects that a run can continue from

	saved time.Time     // time when state.json was last written
	took  time.Duration // duration of writing it
}

// saved has the stages that a resumed run continues from.
type saved struct {
	objects *objects
	growth  *bylevel.Growth
}

// openJournal decides where a run keeps its objects: in memory if all nodes are grown there,
// otherwise in the checkpoint folder. c is the checkpoint of an unfinished run in the output
// folder, or nil. If this run resumes the unfinished run, openJournal returns the objects and trees
// of the checkpoint, otherwise nil. With --resume and --overwrite it resumes if it can.
func openJournal(
	ctx context.Context, d *engine.Driver, p *plan, c *checkpoint, scratch string,
) (*journal, *saved, error) {
	fresh := journal{plan: p, files: d.Files, blocks: scratch + "/blocks"}
	j := new(journal)
	*j = fresh
	switch {
	case c != nil && p.config.Resume && c.resumable():
		s, err := j.restore(ctx, c)
		if err == nil || !p.config.Overwrite || ctx.Err() != nil {
			return j, s, err
		}
		d.Reporter.Warn(fmt.Sprintf("the run starts again, as it cannot go on from its checkpoint: %v", err))
		*j = fresh
	case c != nil && !p.config.Overwrite && c.resumable():
		return j, nil, usage.Errorf("--output %s has an unfinished run: go on with --resume, or replace it "+
			"with --overwrite", p.config.Output)
	case p.config.Resume && !p.config.Overwrite:
		d.Reporter.Warn("there is no checkpoint to resume from: the run starts again")
	}
	switch {
	case p.leavesCheckpoints():
		return j, nil, j.claim(ctx, c)
	case c != nil:
		return j, nil, c.remove(ctx, d.Files.Store, p.config.Output)
	default:
		return j, nil, nil
	}
}

// claim writes a checkpoint that only names the run's folder, before any work is done.
func (j *journal) claim(ctx context.Context, c *checkpoint) error {
	claim := checkpoint{
		checkpointHead: newCheckpointHead(),
		ownedFolders:   ownedFolders{Blocks: rand.Text()},
	}
	j.on, j.blocks = true, checkpointURL(j.plan.config.Output, claim.Blocks)
	bound := objectstore.WriteOptions{IfAbsent: true}
	if c != nil {
		claim.Stale = c.folders()
		bound = objectstore.WriteOptions{IfGeneration: c.seen.Generation}
	}
	if err := j.write(ctx, &claim, bound); err != nil {
		return err
	}
	return claim.removeStale(ctx, j.files.Store, j.plan.config.Output)
}

// restore returns the saved stages of a checkpoint. It fails if the checkpoint has another input or
// configuration.
func (j *journal) restore(ctx context.Context, c *checkpoint) (*saved, error) {
	config := j.plan.config
	if err := j.plan.refuseOther(c); err != nil {
		return nil, err
	}
	j.on, j.resumable, j.blocks, j.generation = true, true, checkpointURL(config.Output, c.Blocks), c.seen.Generation
	earlier := objectstore.Join(j.blocks, scratchFolder)
	if err := j.files.Store.RemoveAll(ctx, earlier); err != nil {
		return nil, usage.Errorf("--output: %v", err)
	}
	sizes, err := c.blockBytes(ctx, j.files.Store)
	if err != nil {
		return nil, usage.Errorf("--output: a part of the checkpoint in %s is missing: %v; start again with --overwrite",
			config.Output, err)
	}
	damaged := func(err error) error {
		return usage.Errorf("--output: the checkpoint in %s is damaged: %v; start again with --overwrite", config.Output, err)
	}
	if err := c.check(sizes); err != nil {
		return nil, damaged(err)
	}
	j.plan.reread(c.Others...)
	f := &fitted{spec: *c.Spec, constant: c.Constant, stats: c.RowStats}
	if f.label, err = j.plan.describeLabel(c.Classes); err != nil {
		return nil, err
	}
	if f.features, err = dataset.DecodeFeatures(c.Features); err != nil {
		return nil, damaged(err)
	}
	return &saved{&objects{f, &c.Objects, j.files}, c.Growth}, nil
}

// place returns the folders of the data that the run's jobs exchange. memory is a folder in the
// memory of this process. local reports whether all workers are in this process: workers elsewhere
// do not see this folder.
func (j *journal) place(memory string, local bool) place {
	scratch := memory
	if j.on && !local {
		scratch = objectstore.Join(j.blocks, scratchFolder, rand.Text())
	}
	return place{scratch: scratch, blocks: j.blocks, spills: j.on}
}

// savedShare limits the time of writing checkpoints: writing one takes at most 1/savedShare of the
// time since the last one.
const savedShare = 10

// saveSoon calls save after one of many short steps, unless the last checkpoint is too recent.
func (j *journal) saveSoon(ctx context.Context, o *objects, at *bylevel.Growth) error {
	if time.Since(j.saved) < savedShare*j.took {
		return nil
	}
	return j.save(ctx, o, at)
}

// save writes a checkpoint of the objects and of the trees so far.
func (j *journal) save(ctx context.Context, o *objects, at *bylevel.Growth) error {
	if !j.on {
		return nil
	}
	start := time.Now()
	defer func() { j.saved, j.took = time.Now(), time.Since(start) }()
	p := j.plan
	settings, err := p.config.Fixed()
	if err != nil {
		return err
	}
	c := checkpoint{
		checkpointHead: newCheckpointHead(),
		checkpointSource: checkpointSource{
			Config: settings, Costs: p.costs.Digest, Inputs: p.input.Manifest(), PerClass: p.digests(),
		},
		ownedFolders: ownedFolders{Blocks: j.folder()},
		checkpointData: checkpointData{
			RowStats: o.stats, Spec: &o.spec, Constant: o.constant, Others: p.others, Features: dataset.EncodeFeatures(o.features),
			Classes: o.label.Classes, Objects: *o.parts,
		},
		Growth: at,
	}
	for part := range c.Objects {
		c.Objects[part].Blocks = nil
		for _, url := range o.parts[part].Blocks {
			c.Objects[part].Blocks = append(c.Objects[part].Blocks, strings.TrimPrefix(url, j.blocks+"/"))
		}
	}
	if err := j.write(ctx, &c, objectstore.WriteOptions{IfGeneration: j.generation}); err != nil {
		return err
	}
	j.resumable = true
	return nil
}

// folder returns the name of the folder blocks within the checkpoint folder.
func (j *journal) folder() string {
	return strings.TrimPrefix(j.blocks, checkpointURL(j.plan.config.Output)+"/")
}

// write writes state.json. It fails if another process has written the file since this run read or
// wrote it.
func (j *journal) write(ctx context.Context, c *checkpoint, o objectstore.WriteOptions) error {
	b, err := c.encode()
	if err != nil {
		return err
	}
	config := j.plan.config
	generation, err := objectstore.WriteSeen(ctx, j.files.Store, checkpointURL(config.Output, checkpointFile), b, o)
	if errors.Is(err, fs.ErrExist) {
		return usage.Errorf("--output %s: another run or program has written %s/%s meanwhile: choose another folder",
			config.Output, engine.CheckpointFolder, checkpointFile)
	}
	if err != nil {
		return usage.Errorf("--output: %v", err)
	}
	j.generation = generation
	return nil
}

// discard removes the run's files in the checkpoint folder, after the run has finished or
// has failed with nothing to resume.
func (j *journal) discard(ctx context.Context) error {
	if j.generation == "" {
		return nil
	}
	config := j.plan.config
	c := checkpoint{
		ownedFolders: ownedFolders{Blocks: j.folder()},
		seen:         objectstore.Object{URL: checkpointURL(config.Output, checkpointFile), Generation: j.generation},
	}
	return c.remove(ctx, j.files.Store, config.Output)
}

// giveUp ends a run that has failed, and returns its error. It removes the run's files in the
// checkpoint folder, unless the run can be resumed from them.
func (j *journal) giveUp(ctx context.Context, err error) error {
	switch {
	case !j.resumable:
		soon := context.WithoutCancel(ctx)
		cancel := context.CancelFunc(func() {})
		if ctx.Err() != nil {
			soon, cancel = context.WithTimeout(soon, engine.PatienceAfterEnd)
		}
		defer cancel()
		_ = j.discard(soon) // the first error is more useful
	case errors.Is(context.Cause(ctx), context.Canceled):
		return &engine.InterruptedError{Checkpoints: checkpointURL(j.plan.config.Output), Err: context.Cause(ctx)}
	}
	return err
}

package pipelines

import (
	"context"
	"runtime"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// durationsOf sums up the timings of jobs and phases by what they belong to.
func durationsOf(timings []runfolder.Timing) runfolder.Durations {
	var d runfolder.Durations
	for _, t := range timings {
		switch t.Job {
		case footersPhase, "summarise", "bins", "coalesce":
			d.Rows += t.Seconds
		case "folds":
			d.Folds += t.Seconds
		case "certificate":
			d.Certificate += t.Seconds
		case "trees", "evaluate", "prune", "frontier", writePhase:
			d.Choice += t.Seconds
		default: // induce, level.., collect
			d.Growth += t.Seconds
		}
	}
	return d
}

// certificateShare is the share of a run that its certificate takes, about.
const certificateShare = 0.1

// durations carries the seconds of a rehearsal forward. Reading takes a time for each
// row, growing for each object, and pruning for each leaf; theta bounds the number of
// leaves.
func (o *outlook) durations() runfolder.Durations {
	if !o.t.driver.Local() {
		return runfolder.Durations{}
	}
	d := durationsOf(o.r.driver.Timings)
	more := o.scale()
	d.Rows /= o.r.rehearsed.share
	d.Growth = float64(d.Growth * more)
	if !o.t.config.inMemory() { // each pass of a level reads all objects, and settles a part of the growth
		d.Growth += float64(float64(o.growth.Passes) * d.Rows / 2)
	}
	if folds := o.folds(); folds > 0 {
		workers := runtime.GOMAXPROCS(0)
		rounds := (folds + workers - 1) / workers * workers // a fold is grown by one worker
		d.Folds = (d.Growth + d.Choice) * float64(folds-1) * float64(rounds) / float64(folds)
		if folds < workers {
			d.Folds = (d.Growth + d.Choice) * float64(folds-1) // by several
		}
	}
	if o.t.config.Certificate != certificateNone {
		d.Certificate = certificateShare / (1 - certificateShare) * d.Total()
	}
	return d
}

// scale returns how many times the training objects of the rehearsal the run has.
func (o *outlook) scale() float64 {
	return o.objects[dataset.Train] / float64(max(1, o.r.rehearsed.tally[dataset.Train].objects))
}

// folds returns the number of folds that the run will want.
func (o *outlook) folds() int {
	if !o.t.undecided() {
		return 0
	}
	rare := o.r.rehearsed.rare / o.r.rehearsed.share
	return o.t.parsed.selection.folds.Decide(rare, o.objects[dataset.Train]).Folds
}

// rehearseChoice scores and prunes the trees of a rehearsal, for how long that
// takes.
func (t *training) rehearseChoice(ctx context.Context) error {
	if !t.undecided() {
		return nil
	}
	t.label = tree.Label{Column: t.config.Label, Classes: t.classes} // those of the sample
	candidates, err := t.candidates(ctx)
	if err != nil {
		return err
	}
	t.rehearsed.rare = crossvalidate.Rarest(candidates[0].Counts[dataset.Validation], len(t.classes))
	_, err = newPool(ctx, t.driver, candidates, &t.parsed.selection.Settings)
	return err
}

package forecast

import (
	"runtime"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// The phases that are told from jobs by their names.
const (
	Footers = "footers" // in which the footers of the input are read
	Write   = "write"   // in which the documents of a folder are written
)

// DurationsOf sums up the timings of jobs and phases by what they belong to.
func DurationsOf(timings []runfolder.Timing) runfolder.Durations {
	var d runfolder.Durations
	for _, t := range timings {
		switch t.Job {
		case Footers, "summarise", "bins", "coalesce":
			d.Rows += t.Seconds
		case "folds":
			d.Folds += t.Seconds
		case "certificate":
			d.Certificate += t.Seconds
		case "trees", "evaluate", "prune", "frontier", Write:
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
func (o *Outlook) durations() runfolder.Durations {
	if !o.run.Local {
		return runfolder.Durations{}
	}
	d := DurationsOf(o.sample.Timings)
	more := o.scale()
	d.Rows /= o.sample.Share
	d.Growth = float64(d.Growth * more)
	if !o.run.InMemory { // each pass of a level reads all objects, and settles a part of the growth
		d.Growth += float64(float64(o.growth.Passes) * d.Rows / 2)
	}
	if folds := o.folds; folds > 0 {
		workers := runtime.GOMAXPROCS(0)
		rounds := (folds + workers - 1) / workers * workers // a fold is grown by one worker
		d.Folds = (d.Growth + d.Choice) * float64(folds-1) * float64(rounds) / float64(folds)
		if folds < workers {
			d.Folds = (d.Growth + d.Choice) * float64(folds-1) // by several
		}
	}
	if o.run.Certified {
		d.Certificate = certificateShare / (1 - certificateShare) * d.Total()
	}
	return d
}

// scale returns how many times the training objects of the rehearsal the run has.
func (o *Outlook) scale() float64 {
	return o.objects[dataset.Train] / float64(max(1, o.sample.Tally[dataset.Train].objects))
}

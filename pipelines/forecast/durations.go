package forecast

import (
	"runtime"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// The jobs and phases that are recognised by their names.
const (
	Evaluate = "evaluate" // job: validation and test objects at the leaves
	Footers  = "footers"  // phase: the footers of the input
	Write    = "write"    // phase: the documents of a folder
)

// DurationsOf sums up the timings of jobs and phases by what they belong to.
func DurationsOf(timings []runfolder.Timing) runfolder.Durations {
	var d runfolder.Durations
	for _, t := range timings {
		switch t.Job {
		case Footers, "summarise", "bins", "coalesce", "slice values", "slices":
			d.Rows += t.Seconds
		case "folds":
			d.Folds += t.Seconds
		case "certificate":
			d.Certificate += t.Seconds
		case "trees", Evaluate, "prune", "frontier", Write:
			d.Choice += t.Seconds
		default: // induce, level.., collect
			d.Growth += t.Seconds
		}
	}
	return d
}

// certificateSpeed is the number of steps of a certificate that a processor makes in a second,
// about: measured on the public data sets.
const certificateSpeed = 5e8

// certificateSeconds returns the seconds of the certificate.
func (o *Outlook) certificateSeconds() float64 {
	objects, features := int64(o.objects[dataset.Train]), int64(len(o.sample.Setting.Columns))
	if certify.ObjectsBytes(objects, o.sample.Layout.Stride) > certify.MaxBytes {
		return 0
	}
	run := certify.Run{
		Trees: int64(len(o.sample.Trees) * (1 + o.folds)), Objects: objects, Features: features,
		Rows: int64(float64(o.sample.Tally[dataset.Train].rows) / o.sample.Share),
	}
	return float64(run.Budget()) / float64(certificateSpeed*float64(runtime.GOMAXPROCS(0)))
}

// durations carries the seconds of a rehearsal forward. Reading takes a time for each
// row, growing for each object, and pruning for each leaf; theta bounds the number of
// leaves.
func (o *Outlook) durations() runfolder.Durations {
	if !o.run.Local {
		return runfolder.Durations{}
	}
	d := DurationsOf(o.sample.Timings)
	d.Rows /= o.sample.Share
	d.Growth = o.growthSeconds(d.Growth)
	if scored := o.scoredTimes(); scored > 1 { // the leaves stay about as many
		for _, t := range o.sample.Timings {
			if t.Job == Evaluate {
				d.Choice += float64(t.Seconds * (scored - 1))
			}
		}
	}
	d.Growth += float64(float64(o.growth.Passes) * passShare * d.Rows)
	if folds := o.folds; folds > 0 {
		workers := runtime.GOMAXPROCS(0)
		rounds := (folds + workers - 1) / workers * workers // a fold is grown by one worker
		d.Folds = (d.Growth + d.Choice) * float64(folds-1) * float64(rounds) / float64(folds)
		if folds < workers {
			d.Folds = (d.Growth + d.Choice) * float64(folds-1) // by several
		}
	}
	if o.run.Certified {
		d.Certificate = o.certificateSeconds()
	}
	return d
}

// passShare is the time of a pass over the objects, as a share of the time of reading all rows
// twice: measured at 1e7 and 1e8 rows of 20 columns.
const passShare = 0.05

// growthSeconds carries the seconds of growing in memory forward to all objects. The time is
// taken to grow in a straight line from half of the sample on: small samples take more time an
// object, as every node costs something whatever it holds.
func (o *Outlook) growthSeconds(sample float64) float64 {
	more := o.scale()
	if o.sample.Half == 0 || more <= 1 {
		return sample * more
	}
	slope := min(1, max(leastSlope, 2*(sample-o.sample.Half)/max(sample, 1e-9)))
	return sample * (1 + float64(slope*(more-1)))
}

// leastSlope bounds the slope of the time of growing, which two noisy measurements give, from
// below.
const leastSlope = 0.3

// scoredTimes returns how many times the validation and test objects of the rehearsal the run
// has.
func (o *Outlook) scoredTimes() float64 {
	there, sample := 0.0, int64(0)
	for _, part := range []dataset.Part{dataset.Validation, dataset.Test} {
		there += o.objects[part]
		sample += o.sample.Tally[part].objects
	}
	return there / float64(max(1, sample))
}

// scale returns how many times the training objects of the rehearsal the run has.
func (o *Outlook) scale() float64 {
	return o.objects[dataset.Train] / float64(max(1, o.sample.Tally[dataset.Train].objects))
}

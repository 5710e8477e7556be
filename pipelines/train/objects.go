package train

import (
	"context"
	"errors"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// objects are the objects of each part of the split. An object represents all rows with the same
// codes.
type objects struct {
	*fitted

	parts  *[dataset.Parts]jobs.ObjectStats
	reader *source.Files // reader of the blocks
}

// newObjects makes objects of the rows. If rows turn out to be copies, it deals them again, with copies together.
func newObjects(ctx context.Context, s stage) (*objects, error) {
	defer s.files.Parquet.Forget() // no later pass reads the rows
	o, err := coalesced(ctx, s)
	if err != nil {
		return nil, err
	}
	dealt, err := s.copies(ctx, o)
	if err != nil || !dealt {
		return o, err
	}
	for part := range o.parts {
		if err := s.removeAll(ctx, o.parts[part].Blocks...); err != nil {
			return nil, err
		}
	}
	return coalesced(ctx, s)
}

// coalesced fits features to the rows, and makes objects of them.
func coalesced(ctx context.Context, s stage) (*objects, error) {
	f, err := (&fitter{s}).fit(ctx)
	if err != nil {
		return nil, err
	}
	return (&coalescer{s}).coalesce(ctx, f)
}

// train returns the statistics of the training objects.
func (o *objects) train() *jobs.ObjectStats { return &o.parts[dataset.Train] }

// validates reports whether there are validation rows.
func (o *objects) validates() bool { return o.parts[dataset.Validation].Rows > 0 }

// soft reports whether the training objects are soft, see dataset.Objects.
func (o *objects) soft() bool { return o.spec.Soft.Scale > 0 }

// blockBytes estimates the bytes of an object of a part in a block.
func (o *objects) blockBytes(part dataset.Part) int64 {
	const each = 4 // bytes of a class and its soft weight
	bytes := int64(o.layout().Stride + blockOverhead)
	if o.soft() && part == dataset.Train {
		bytes += int64(each * len(o.label.Classes))
	}
	return bytes
}

// tasks returns a task for each block of a part.
func (o *objects) tasks(part dataset.Part) []jobs.Task {
	tasks := make([]jobs.Task, len(o.parts[part].Blocks))
	for i, url := range o.parts[part].Blocks {
		tasks[i] = jobs.Task{File: url, Part: part}
	}
	return tasks
}

// eachBlock calls f with the blocks of a part's objects, one after the other.
func (o *objects) eachBlock(ctx context.Context, part dataset.Part, f func(block []byte) error) error {
	for _, task := range o.tasks(part) {
		b, err := o.reader.Read(ctx, task.File)
		if err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// layout returns the layout of an object's codes in its key.
func (f *fitted) layout() dataset.Layout { return dataset.NewLayout(f.features) }

// newObjects returns an empty set of objects with room for n.
func (o *objects) newObjects(n int) *dataset.Objects {
	return dataset.NewObjects(o.layout(), len(o.label.Classes), o.spec.Weighted(), n)
}

// training reads all training objects, with the groups that folds and teachers need. If the objects have no
// groups, the seed deals rows to groups.
func (o *objects) training(ctx context.Context, seed uint64) (*dataset.Objects, error) {
	all, err := o.all(ctx, dataset.Train, o.spec.Groups[dataset.Train])
	if err == nil && !o.spec.Dependent() && all.Grouped() {
		all = all.ByRow(dataset.Buckets, seed)
	}
	return all, err
}

// grouped reads the objects of a part with their groups, unless there are too many.
func (o *objects) grouped(ctx context.Context, part dataset.Part) (*dataset.Objects, error) {
	if most := min(o.spec.Groups[part], selection.MostMeasured); o.parts[part].Objects <= most {
		return o.all(ctx, part, most)
	}
	return dataset.NewObjects(o.layout(), len(o.label.Classes), false, 0), nil
}

// all reads all objects of a part. They have their groups if there are at most most objects.
func (o *objects) all(ctx context.Context, part dataset.Part, most int64) (*dataset.Objects, error) {
	layout := o.layout()
	n := o.parts[part].Objects
	all := o.newObjects(int(n))
	if most >= n && most > 0 {
		all.KeepGroups()
	}
	if err := o.eachBlock(ctx, part, func(b []byte) error { return all.AppendFrom(b, layout) }); err != nil {
		return nil, err
	}
	if most >= n && most > 0 && !all.Grouped() {
		return nil, errors.New("the objects of the checkpoint do not know the groups of their rows: train without --resume")
	}
	return all, nil
}

// The importance of features is measured on at most importanceObjects objects, the ones with the least
// hashes. It is not measured on a part with more than mostShuffled objects, as all of them would have
// to be read.
const (
	importanceObjects = 1 << 14
	modelledObjects   = 1 << 13 // for a tree with leaf models
	mostShuffled      = 1 << 22
)

// importanceSample reads the objects on which the importance of features is measured: validation
// objects, or training objects without validation rows.
func (o *objects) importanceSample(ctx context.Context) (*runfolder.Shuffled, error) {
	part := dataset.Validation
	if !o.validates() {
		part = dataset.Train
	}
	s := &runfolder.Shuffled{Part: part.String(), Objects: o.newObjects(0)}
	layout := o.layout()
	if o.parts[part].Objects > mostShuffled {
		return s, nil
	}
	if err := o.eachBlock(ctx, part, func(b []byte) error { return s.Objects.AppendFrom(b, layout) }); err != nil {
		return nil, err
	}
	if s.Objects.Len() > importanceObjects {
		s.Objects = leafmodel.Sorted(s.Objects, importanceObjects)
	}
	return s, nil
}

// sample reads the objects of a part for leaf models.
func (o *objects) sample(ctx context.Context, part dataset.Part) (*dataset.Objects, error) {
	layout := o.layout()
	most := selection.Most(part)
	all := o.newObjects(int(min(o.parts[part].Objects, int64(2*most))))
	err := o.eachBlock(ctx, part, func(b []byte) error {
		err := all.AppendFrom(b, layout)
		if err == nil && all.Len() > 2*most {
			all = leafmodel.Sorted(all, most)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return leafmodel.Sorted(all, most), nil
}

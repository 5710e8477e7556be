package retraining

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
)

// InUse is a run in use whose place a new run may take.
type InUse struct {
	Store       *objectstore.Store
	Destination string
	Run         string
	Replace     bool // whether the new run may take the place of a run whose documents are damaged
}

// URL returns the URL of the run.
func (u *InUse) URL() string { return objectstore.Join(u.Destination, u.Run) }

// Tree reads the tree in use. broken is whether the run has a tree other than the one that LATEST.json names, or no
// tree. lost is why the tree is nil: it is gone, or its file is readable and no tree. Other errors, such as outages, may pass.
func (u *InUse) Tree(ctx context.Context, warn func(string)) (t *tree.Tree, broken bool, lost, err error) {
	t, err = runfolder.ReadTree(ctx, u.Store, objectstore.Join(u.Destination, latest.Name))
	if err != nil && usage.NatureOf(err) != usage.TryAgain {
		broken = true
		warn(fmt.Sprintf("the tree in use cannot be used: %v", err))
		t, err = runfolder.ReadTree(ctx, u.Store, u.URL())
	}
	switch {
	case err == nil:
		return t, broken, nil, nil
	case ctx.Err() != nil:
		return nil, broken, nil, ctx.Err()
	case usage.NatureOf(err) == usage.TryAgain:
		return nil, broken, nil, usage.Errorf("--destination %s: the tree in use cannot be read now: %v", u.Destination, err)
	}
	if gone, readable := u.state(ctx, runfolder.TreeName); gone || readable {
		return nil, broken, err, nil
	}
	return nil, broken, nil, usage.Errorf("--destination %s: the tree in use cannot be read: %v; make it readable, or put the run before "+
		"it in use: espalier retrain use %s previous", u.Destination, err, u.Destination)
}

// Area reads the AUC of the run on its own test rows. why says why it is unknown for good.
func (u *InUse) Area(ctx context.Context) (area *metric.Estimate, why string, err error) {
	there, err := runfolder.Read(ctx, u.Store, u.URL(), runfolder.Training, runfolder.MetricsName)
	if err != nil {
		why, err = u.unknown(ctx, err, runfolder.MetricsName)
		return nil, why, err
	}
	return there.Metrics.Test.Area(), "", nil
}

// Distribution reads the documents from which drift is measured. why says why they are unknown for good.
func (u *InUse) Distribution(ctx context.Context) (there *runfolder.Run, why string, err error) {
	there, err = pipelines.ReadDistribution(ctx, u.Store, "the run in use,", "", u.URL())
	if err != nil {
		why, err = u.unknown(ctx, err, runfolder.TreeName, runfolder.SchemaName, runfolder.DistributionName, runfolder.ManifestName)
		return nil, why, err
	}
	return there, "", nil
}

// unknown returns an error of reading files of the run as a reason if one is gone, or if they are readable, hence
// damaged, and the run may be replaced. Other errors are returned: damage is for a person.
func (u *InUse) unknown(ctx context.Context, err error, names ...string) (why string, other error) {
	if ctx.Err() != nil || usage.NatureOf(err) == usage.TryAgain {
		return "", err
	}
	if gone, readable := u.state(ctx, names...); gone || readable && u.Replace {
		return err.Error(), nil
	}
	return "", err
}

// state returns whether one of some files of the run is gone, and whether all can be read.
func (u *InUse) state(ctx context.Context, names ...string) (gone, readable bool) {
	readable = true
	for _, name := range names {
		_, err := u.Store.ReadAll(ctx, objectstore.Join(u.URL(), name), runfolder.MaxModel)
		gone = gone || errors.Is(err, fs.ErrNotExist)
		readable = readable && err == nil
	}
	return gone, readable
}

package source

import (
	"context"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
)

// Cuts are the features and classes of an earlier run, which map values to codes.
type Cuts struct {
	Run      string   // folder of the run
	Classes  []string // classes of the label, in the order of their codes
	Features []dataset.Feature
	Bins     int // number of bins of a numeric feature, as in the run's tree
}

// ReadCuts reads schema.json and tree.json of a run folder, which a flag gives by its URL or by the
// URL of a LATEST.json. Any error is a usage error.
func ReadCuts(ctx context.Context, s *objectstore.Store, flag, run string) (*Cuts, error) {
	run, err := latest.Resolve(ctx, s, run)
	if err != nil {
		return nil, err
	}
	there, err := runfolder.Read(ctx, s, run, runfolder.Training, runfolder.SchemaName, runfolder.TreeName)
	if err != nil {
		return nil, usage.Errorf("--%s %s", flag, err)
	}
	if there.Schema == nil || there.Tree == nil {
		return nil, usage.Errorf("--%s %s: want the folder of a finished run, with %s and %s", flag, run,
			runfolder.SchemaName, runfolder.TreeName)
	}
	return &Cuts{
		Run: run, Classes: there.Schema.Label.Classes, Features: dataset.CodingOnly(there.Schema.Features()),
		Bins: there.Tree.Algorithm.Bins,
	}, nil
}

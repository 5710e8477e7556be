package runfolder

import (
	"context"
	"encoding/json"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// The files of a run folder, beside SuccessName.
const (
	TreeName     = "tree.json"
	MetricsName  = "metrics.json"
	SchemaName   = "schema.json"
	ManifestName = "manifest.json"

	ManifestFormat = "espalier/manifest"
)

// OfTraining describes a run folder.
func OfTraining() *Kind {
	return &Kind{
		format: ManifestFormat, what: "a run", done: "a finished run", begun: "an unfinished run",
		again: "go on with --resume, or replace it with --overwrite",
		files: []string{TreeName, MetricsName, SchemaName, FrontierName}, patterns: []string{FrontierFolder + "/[0-9][0-9][0-9]*.json"},
		writesTell: true, unlisted: unlistedRun,
	}
}

// unlistedRun returns the files of a run of a version whose manifests do not list them.
func unlistedRun(ctx context.Context, f *Folder, _ []byte) ([]string, error) {
	names := OfTraining().files
	o, ok := f.held[FrontierName]
	if !ok {
		return names, nil
	}
	b, err := objectstore.ReadSeen(ctx, f.store, o, MaxModel)
	if err != nil {
		return nil, err
	}
	var there Frontier
	if err := json.Unmarshal(b, &there); err == nil && there.Format == FrontierFormat {
		for i := range there.Points {
			names = append(names, there.Points[i].Tree)
		}
	}
	return names, nil
}

// PredictionsFormat identifies the manifest.json beside predictions.
const PredictionsFormat = "espalier/predictions"

// OfPredictions describes a folder of predictions.
func OfPredictions() *Kind {
	return &Kind{
		format: PredictionsFormat, what: "predictions", done: "finished predictions", begun: "unfinished predictions",
		again: "replace them with --overwrite", files: []string{MetricsName}, unlisted: unlistedPredictions,
	}
}

// unlistedPredictions returns the files of a version whose manifests list the predictions
// alone.
func unlistedPredictions(_ context.Context, _ *Folder, manifest []byte) ([]string, error) {
	var m PredictionsManifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, err
	}
	return append(m.Outputs, MetricsName), nil
}

// The files beside the rows. Their underscores keep them out of input globs.
const (
	SynthCosts = "_costs.csv"
	SynthTree  = "_tree.json"
	synthParts = "part-*.parquet"

	SynthFormat = "espalier/synth"
)

// OfSynth describes the folder of a made-up data set. All files that its inputs' glob
// matches are its own: others would be read as part of it.
func OfSynth() *Kind {
	return &Kind{
		format: SynthFormat, what: "a made-up data set", done: "a finished data set", begun: "an unfinished data set",
		again: "replace it with --overwrite", files: []string{SynthCosts, SynthTree}, patterns: []string{synthParts},
		unlisted: func(context.Context, *Folder, []byte) ([]string, error) { return []string{}, nil },
	}
}

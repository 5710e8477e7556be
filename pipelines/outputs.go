package pipelines

import (
	"context"
	"encoding/json"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// The files of a run folder, beside successFile.
const (
	treeFile     = "tree.json"
	metricsFile  = "metrics.json"
	schemaFile   = "schema.json"
	manifestFile = "manifest.json"

	manifestFormat = "espalier/manifest"
)

// trainOutput describes a run folder.
func trainOutput() *outputKind {
	return &outputKind{
		format: manifestFormat, what: "a run", done: "a finished run", begun: "an unfinished run",
		again: "go on with --resume, or replace it with --overwrite",
		files: []string{treeFile, metricsFile, schemaFile, frontierFile}, patterns: []string{frontierFolder + "/[0-9][0-9][0-9]*.json"},
		writesTell: true, unlisted: unlistedRun,
	}
}

// unlistedRun returns the files of a run of a version whose manifests do not list them.
func unlistedRun(ctx context.Context, f *folder, _ []byte) ([]string, error) {
	names := trainOutput().files
	o, ok := f.held[frontierFile]
	if !ok {
		return names, nil
	}
	b, err := objectstore.ReadSeen(ctx, f.store, o, maxModel)
	if err != nil {
		return nil, err
	}
	var there FrontierFile
	if err := json.Unmarshal(b, &there); err == nil && there.Format == frontierFormat {
		for i := range there.Points {
			names = append(names, there.Points[i].Tree)
		}
	}
	return names, nil
}

// predictionsFormat identifies the manifest.json beside predictions.
const predictionsFormat = "espalier/predictions"

// predictOutput describes a folder of predictions.
func predictOutput() *outputKind {
	return &outputKind{
		format: predictionsFormat, what: "predictions", done: "finished predictions", begun: "unfinished predictions",
		again: "replace them with --overwrite", files: []string{metricsFile}, unlisted: unlistedPredictions,
	}
}

// unlistedPredictions returns the files of a version whose manifests list the predictions
// alone.
func unlistedPredictions(_ context.Context, _ *folder, manifest []byte) ([]string, error) {
	var m PredictManifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, err
	}
	return append(m.Outputs, metricsFile), nil
}

// The files beside the rows. Their underscores keep them out of input globs.
const (
	synthCosts = "_costs.csv"
	synthTree  = "_tree.json"
	synthParts = "part-*.parquet"

	synthFormat = "espalier/synth"
)

// synthOutput describes the folder of a made-up data set. All files that its inputs' glob
// matches are its own: others would be read as part of it.
func synthOutput() *outputKind {
	return &outputKind{
		format: synthFormat, what: "a made-up data set", done: "a finished data set", begun: "an unfinished data set",
		again: "replace it with --overwrite", files: []string{synthCosts, synthTree}, patterns: []string{synthParts},
		unlisted: func(context.Context, *folder, []byte) ([]string, error) { return []string{}, nil },
	}
}

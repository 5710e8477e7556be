package runfolder

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// Claim writes a manifest.json that lists the files of the run that begins, so that what it
// leaves behind if it is killed is known to be Espalier's. Nothing of an earlier
// run is there any more.
func (f *Folder) Claim(ctx context.Context, started time.Time, files []string) error {
	b, err := json.MarshalIndent(head{Format: f.kind.format, Version: 1, Espalier: Version(), Started: started.UTC(), Files: files}, "", "  ")
	if err != nil {
		return err
	}
	generation, err := objectstore.WriteSeen(ctx, f.store, f.File(ManifestName), append(b, '\n'), f.bound(ManifestName))
	if errors.Is(err, fs.ErrExist) {
		return f.overtaken(ManifestName)
	}
	if err != nil {
		return usage.Errorf("--output: %v", err)
	}
	f.begun, f.earlier, f.owned = true, false, nil
	f.held = map[string]objectstore.Object{ManifestName: {URL: f.File(ManifestName), Generation: generation}}
	return nil
}

// Claimed reports whether the claim is still this run's: else another one has taken the
// folder over.
func (f *Folder) Claimed(ctx context.Context) bool {
	stat, err := f.store.Stat(ctx, f.File(ManifestName))
	return err == nil && stat.Generation == f.held[ManifestName].Generation
}

// Disclaim removes the claim of a run that has come to nothing.
func (f *Folder) Disclaim(ctx context.Context) error {
	return f.store.RemoveSeen(ctx, f.held[ManifestName])
}

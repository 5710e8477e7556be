package retraining

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// key returns the digest of what a run and its judgement follow from: the input files, the settings, and
// the contents of the files that settings name.
func (w *work) key(ctx context.Context) (string, error) {
	settings, err := w.config.Train.Fixed()
	if err != nil {
		return "", err
	}
	delete(settings, "input")
	named, err := w.named(ctx)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal([]any{settings, w.config.Mode, w.config.Gate, w.config.Drift, w.window.Files, named})
	if err != nil {
		return "", err
	}
	return digestOf(b), nil
}

// digestOf returns 16 hexadecimal digits.
func digestOf(b []byte) string {
	digest := sha256.Sum256(b)
	return hex.EncodeToString(digest[:8])
}

// named returns the contents of the files that settings name, by setting.
func (w *work) named(ctx context.Context) (map[string]any, error) {
	c := &w.config.Train
	obeyed, err := contracts.Read(ctx, &c.Contract)
	if err != nil {
		return nil, err
	}
	costs, err := tables.DigestOf(ctx, w.files, "costs", c.CostsFile)
	if err != nil {
		return nil, err
	}
	classes, err := tables.ReadClasses(ctx, w.files, c)
	if err != nil {
		return nil, err
	}
	named := map[string]any{"contract": obeyed, "costs": costs, "classes": classes.Digests()}
	if c.CutsFile != "" {
		if named["cuts"], err = tables.DigestOf(ctx, w.files, "cuts", c.CutsFile); err != nil {
			return nil, err
		}
	}
	if c.CutsFrom != "" {
		if named["cuts_from"], err = source.ReadCuts(ctx, w.files.Store, "cuts_from", c.CutsFrom); err != nil {
			return nil, err
		}
	}
	return named, nil
}

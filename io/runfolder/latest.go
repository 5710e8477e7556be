package runfolder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// LatestName is the file that names the run in use among the runs beside it.
const LatestName = "LATEST.json"

const (
	latestFormat = "espalier/latest"
	maxLatest    = 1 << 16 // bytes
)

// Latest is LATEST.json. It is replaced as a whole, so that its readers always find a complete run.
type Latest struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Run      string    `json:"run"`         // folder, relative to the file
	Digest   string    `json:"tree_sha256"` // of the run's tree.json, in hex
	Promoted time.Time `json:"promoted"`

	generation string // of the file
}

// ReadLatest reads the LATEST.json of a folder; nil: there is none.
func ReadLatest(ctx context.Context, s *objectstore.Store, folder string) (*Latest, error) {
	url := objectstore.Join(folder, LatestName)
	seen, err := s.Stat(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no run has been promoted yet
	}
	if err != nil {
		return nil, usage.Errorf("%v", err)
	}
	b, err := objectstore.ReadSeen(ctx, s, seen, maxLatest)
	if err != nil {
		return nil, usage.Errorf("%v", err)
	}
	l := &Latest{generation: seen.Generation}
	if err := json.Unmarshal(b, l); err != nil || l.Format != latestFormat || l.Version != 1 || !below(l.Run) {
		return nil, usage.Errorf("%s is no %s of Espalier: want format %q, version 1 and a run beside it", url, LatestName,
			latestFormat)
	}
	return l, nil
}

// below reports whether a relative URL stays below its folder.
func below(run string) bool {
	return run != "" && path.Clean(run) == run && !path.IsAbs(run) && run != "." && run != ".." &&
		!strings.HasPrefix(run, "../") && !strings.Contains(run, "://")
}

// Promote makes a run below a folder the one in use, if LATEST.json is still what ReadLatest returned as
// before; nil: there was none. ErrOvertaken says that it is not.
func Promote(
	ctx context.Context, s *objectstore.Store, folder, run string, before *Latest, at time.Time,
) (*Latest, error) {
	tree, err := s.ReadAll(ctx, objectstore.Join(folder, run, TreeName), MaxModel)
	if err != nil {
		return nil, OutputError(err)
	}
	l := &Latest{Format: latestFormat, Version: 1, Run: run, Digest: digestOf(tree), Promoted: at.UTC()}
	b, err := encodeJSON(l)
	if err != nil {
		return nil, err
	}
	bound := objectstore.WriteOptions{IfAbsent: true}
	if before != nil {
		bound = objectstore.WriteOptions{IfGeneration: before.generation}
	}
	l.generation, err = objectstore.WriteSeen(ctx, s, objectstore.Join(folder, LatestName), b, bound)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil, ErrOvertaken
	}
	return l, OutputError(err)
}

// ErrOvertaken says that another program has moved LATEST.json.
var ErrOvertaken = errors.New("another program has moved " + LatestName + " meanwhile")

// Resolve returns the model that a LATEST.json names, a run folder. Other models are returned as they are.
func Resolve(ctx context.Context, s *objectstore.Store, model string) (string, error) {
	if !IsLatest(model) {
		return model, nil
	}
	_, run, err := latestOf(ctx, s, model)
	return run, err
}

// IsLatest reports whether a model is named by a LATEST.json.
func IsLatest(model string) bool { return path.Base(model) == LatestName }

// latestOf reads a LATEST.json. It also returns the URL of the run.
func latestOf(ctx context.Context, s *objectstore.Store, url string) (*Latest, string, error) {
	folder := strings.TrimSuffix(strings.TrimSuffix(url, LatestName), "/")
	if folder == "" {
		folder = "."
	}
	l, err := ReadLatest(ctx, s, folder)
	switch {
	case err != nil:
		return nil, "", err
	case l == nil:
		return nil, "", usage.Errorf("--model %s does not exist: retrain writes it with the first run that passes its gate",
			url)
	}
	return l, objectstore.Join(folder, l.Run), nil
}

// digestOf returns the SHA-256 of a file, in hex.
func digestOf(b []byte) string {
	digest := sha256.Sum256(b)
	return hex.EncodeToString(digest[:])
}

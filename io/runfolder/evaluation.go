package runfolder

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// MetricsOutput is the file of an evaluation's metrics.
type MetricsOutput struct {
	store *objectstore.Store
	url   string // empty if no file is written
	bound objectstore.WriteOptions
}

// OpenMetrics checks the file of the metrics, before any work is done. Only metrics of another
// evaluation are replaced, and only if replace is true. Errors are usage errors.
func OpenMetrics(ctx context.Context, s *objectstore.Store, url string, replace bool) (*MetricsOutput, error) {
	o := &MetricsOutput{store: s, url: url, bound: objectstore.WriteOptions{IfAbsent: true}}
	if url == "" {
		if replace {
			return nil, usage.Errorf("--overwrite replaces the file of --output: name it")
		}
		return o, nil
	}
	seen, err := s.Stat(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return nil, usage.Errorf("--output: %v", err)
	}
	if err := checkMetrics(ctx, s, seen); err != nil {
		return nil, err
	}
	if !replace {
		return nil, usage.Errorf("--output: %s has the metrics of another evaluation: "+
			"choose another file, or replace it with --overwrite", url)
	}
	o.bound = objectstore.WriteOptions{IfGeneration: seen.Generation}
	return o, nil
}

// checkMetrics returns an error for a file that was not written by an evaluation.
func checkMetrics(ctx context.Context, s *objectstore.Store, seen objectstore.Object) error {
	const most = 1 << 28 // bytes of metrics, far more than any metrics take
	var m Metrics
	b, err := objectstore.ReadSeen(ctx, s, seen, most)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || m.Format != MetricsFormat:
		return usage.Errorf("--output: %s lies there and is no metrics file of Espalier: "+
			"nothing is overwritten; choose another file", seen.URL)
	case m.Train != nil || m.Validation != nil || m.Folds != nil || isListed(ctx, s, seen.URL):
		return usage.Errorf("--output: %s is a part of another run's output, not of an evaluation: "+
			"nothing is overwritten; choose another file", seen.URL)
	default:
		return nil
	}
}

// isListed reports whether a manifest in the same folder lists a file as written by a run.
func isListed(ctx context.Context, s *objectstore.Store, url string) bool {
	return lists(ctx, s, ManifestName, url) || lists(ctx, s, DataManifestName, url)
}

// lists reports whether the named manifest in the same folder lists a file.
func lists(ctx context.Context, s *objectstore.Store, manifest, url string) bool {
	at := strings.LastIndexByte(url, '/') + 1
	b, err := s.ReadAll(ctx, url[:at]+manifest, MaxModel)
	if err != nil {
		return false
	}
	var head head
	if err := json.Unmarshal(b, &head); err != nil || !strings.HasPrefix(head.Format, formatPrefix) {
		return false
	}
	if head.Files == nil { // written by a version that did not list files
		return path.Base(url) == MetricsName
	}
	for _, name := range head.Files {
		if name == url[at:] {
			return true
		}
	}
	return false
}

// Write writes the metrics over the file that OpenMetrics saw.
func (o *MetricsOutput) Write(ctx context.Context, m *Metrics) error {
	if o.url == "" {
		return nil
	}
	b, err := m.Encode()
	if err != nil {
		return err
	}
	_, err = objectstore.WriteSeen(ctx, o.store, o.url, b, o.bound)
	switch {
	case errors.Is(err, fs.ErrExist):
		return usage.Errorf("--output: %s has appeared or changed while the rows were scored: "+
			"nothing is overwritten; choose another file", o.url)
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return OutputError(err)
	default:
		return nil
	}
}

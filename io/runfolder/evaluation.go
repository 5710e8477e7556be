package runfolder

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// RefuseMetrics returns a usage error for a file that was not written by an evaluation.
func RefuseMetrics(ctx context.Context, s *objectstore.Store, seen objectstore.Object) error {
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
		return usage.Errorf("--output: %s exists and is no metrics file of Espalier: "+
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
	return slices.Contains(head.Files, url[at:])
}

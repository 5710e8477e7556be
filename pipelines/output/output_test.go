package output_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/output"
)

// folderOf returns the URL of a folder of files, in the memory of this process.
func folderOf(t *testing.T, s *objectstore.Store, files map[string]string) string {
	t.Helper()
	url := "mem:/" + t.TempDir()
	for name, content := range files {
		_, err := objectstore.WriteSeen(t.Context(), s, objectstore.Join(url, name), []byte(content), objectstore.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	return url
}

// TestMetrics: only metrics of an evaluation are replaced.
func TestMetrics(t *testing.T) {
	s := objectstore.New()
	metrics := &runfolder.Metrics{Format: runfolder.MetricsFormat, Version: 1}
	const evaluated = `{"format": "espalier/metrics", "test": {}}`
	url := folderOf(t, s, map[string]string{
		"mine.json": `{"a": 1}`, "text.json": "x", "trained.json": `{"format": "espalier/metrics", "train": {}}`,
		"metrics.json": evaluated, "listed.json": evaluated, "evaluated.json": evaluated,
		"manifest.json":     `{"format": "espalier/predictions", "files": ["listed.json"]}`,
		"old/manifest.json": `{"format": "espalier/predictions"}`, "old/metrics.json": evaluated, "old/other.json": evaluated,
		"new/_manifest.json": `{"format": "espalier/predictions", "files": ["_metrics.json"]}`, "new/_metrics.json": evaluated,
		"app/manifest.json": `{"name": "app"}`, "app/metrics.json": evaluated,
	})
	for name, want := range map[string]string{
		"mine.json": "is no metrics file of Espalier", "text.json": "is no metrics file of Espalier",
		"trained.json": "is a part of another run's output", "listed.json": "is a part of another run's output",
		"old/metrics.json": "is a part of another run's output", "new/_metrics.json": "is a part of another run's output", "old/other.json": "", "app/metrics.json": "", "metrics.json": "",
		"evaluated.json": "", "new.json": "",
	} {
		o, err := output.Open(t.Context(), s, url+"/"+name, true, output.Metrics())
		if want != "" {
			wantRefusal(t, name, err, want)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := o.Encode(t.Context(), metrics.Encode); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantRefusal(t, name, o.Encode(t.Context(), metrics.Encode), "has appeared or changed in the meantime")
	}
	_, err := output.Open(t.Context(), s, url+"/evaluated.json", false, output.Metrics())
	wantRefusal(t, "without --overwrite", err, "has the metrics of another evaluation: choose another file, or replace it with --overwrite")
	_, err = output.Open(t.Context(), s, "", true, output.Metrics())
	wantRefusal(t, "--overwrite of nothing", err, "name it")
	_, err = output.Open(t.Context(), s, "fiel://x", false, output.Metrics())
	wantRefusal(t, "scheme", err, "--output: ")
	if o, err := output.Open(t.Context(), s, "", false, output.Metrics()); err != nil || o.Encode(t.Context(), metrics.Encode) != nil {
		t.Errorf("without a file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := output.Open(ctx, s, url+"/mine.json", true, output.Metrics()); err == nil {
		t.Error("an interrupted run has opened its file")
	}
}

// wantRefusal wants an error of usage with this text.
func wantRefusal(t *testing.T, what string, err error, text string) {
	t.Helper()
	if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want a usage error with %q", what, err, text)
	}
}

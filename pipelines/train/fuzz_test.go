package train_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// FuzzCloudURL gives URLs of object stores to the flags that take one: there is no panic,
// and each refusal names the flag or the URL.
func FuzzCloudURL(f *testing.F) {
	for _, rest := range []string{
		"", "/", "bucket", "bucket/", "bucket/x.parquet", "bucket/*.parquet", "bucket/**", "bucket/a//b", "bucket/[", "buck*/x", "none/x", "bucket/../x", "bucket/é", "bucket/\xff", "bucket/ ", "bucket/x\ny", "bucket/a,b",
	} {
		for scheme := range byte(4) {
			f.Add(scheme, rest)
		}
	}
	objectstoretest.UseGCS(f, objectstoretest.StartGCS(f, "bucket"))
	objectstoretest.UseS3(f, objectstoretest.StartS3(f, "bucket"))
	f.Fuzz(func(t *testing.T, scheme byte, rest string) {
		url := []string{"gs://", "s3://", "mem://", "gs:/"}[scheme%4] + rest
		c := oneTree()
		c.Label, c.StorageTimeout = "class", 5
		for flag, set := range map[string]func(){
			"input":  func() { c.Input, c.Output = []string{url}, "mem://fuzz/run" },
			"costs":  func() { c.CostsFile = url },
			"output": func() { c.Input, c.Output, c.CostsFile = []string{"mem://fuzz/none.parquet"}, url, "" },
		} {
			set()
			if len(c.Input) == 0 {
				c.Input, c.Output = []string{"mem://fuzz/none.parquet"}, "mem://fuzz/run"
			}
			_, err := train.Train(t.Context(), c, nil)
			known := errors.As(err, new(*usage.Error)) || errors.As(err, new(*dataset.DataError))
			if !known || !strings.Contains(err.Error(), "--") && !strings.Contains(err.Error(), url) {
				t.Errorf("--%s %q: got %v", flag, url, err)
			}
		}
		p := config.DefaultPredict()
		p.Model, p.Input, p.Output, p.Runner = url, []string{url}, url, "direct"
		p.StorageConfig, p.EngineConfig = c.StorageConfig, c.EngineConfig
		if _, err := pipelines.Predict(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "--") && !strings.Contains(err.Error(), url) {
			t.Errorf("predict with %q: got %v", url, err)
		}
		e := config.Evaluate{Model: "mem://fuzz/none", Input: []string{url}, Output: url, StorageConfig: c.StorageConfig}
		if _, _, err := pipelines.Evaluate(t.Context(), e, nil); err == nil || !strings.Contains(err.Error(), e.Model) && !strings.Contains(err.Error(), "--") &&
			!strings.Contains(err.Error(), url) {
			t.Errorf("evaluate with %q: got %v", url, err)
		}
	})
}

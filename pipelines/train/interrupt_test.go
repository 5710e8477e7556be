package train_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestInterruptedIsTold: whatever fails for want of the context, a verb returns why
// the context has ended, and no fault of its input or output in other words. The
// moments of the interrupts are even shares of a whole run's time, so that they fall
// on all of its steps.
func TestInterruptedIsTold(t *testing.T) {
	longtest.Skip(t)
	input := newRows(600).write(t, ascending(600), 3, parquetio.WriteOptions{})
	c := oneTree()
	c.Input, c.Label, c.Ignore = []string{input}, "class", []string{"id", "weight"}
	model := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(model, mustTrain(t, c).Tree.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, verb := range map[string]func(ctx context.Context, output string) error{
		"train": func(ctx context.Context, output string) error {
			c := c
			c.Output = output
			_, err := train.Train(ctx, c, nil)
			return err
		},
		"train with models": func(ctx context.Context, output string) error {
			c := config.DefaultTrain()
			c.Input, c.Label, c.Ignore, c.Output = []string{input}, "class", []string{"id", "weight"}, output
			oneMember(&c)
			c.LeafModel, c.Folds, c.Certificate = "linear", crossvalidate.Setting{Number: 3}, false
			_, err := train.Train(ctx, c, nil)
			if left, _ := filepath.Glob(filepath.Join(output, "*.json")); err != nil && len(left) > 0 {
				t.Errorf("after %v files are left: %v", err, left)
			}
			return err
		},
		"train with a teacher": func(ctx context.Context, output string) error {
			c := c
			c.Output, c.Split, c.Select, c.Folds = output, dataset.Shares{60, 20, 20}, frontier.Best, crossvalidate.Setting{Number: 2}
			oneMember(&c)
			c.Teacher, c.MadeUpRows, c.LeafModel, c.Certificate = "boosted", new(int64(200)), "none", false
			r, err := train.Train(ctx, c, nil)
			if err == nil && r.Frontier.Grown != 2 {
				t.Errorf("%d trees were grown: want one from the labels, one from the teacher", r.Frontier.Grown)
			}
			return err
		},
		"predict": func(ctx context.Context, output string) error {
			c := config.DefaultPredict()
			c.Model, c.Input, c.Output = model, []string{input}, output
			_, err := pipelines.Predict(ctx, c, nil)
			return err
		},
		"evaluate": func(ctx context.Context, _ string) error {
			_, _, err := pipelines.Evaluate(ctx, config.Evaluate{
				Model: model, Input: []string{input}, StorageConfig: config.DefaultStorageConfig(),
			}, nil)
			return err
		},
		"compare": func(ctx context.Context, _ string) error {
			_, err := pipelines.Compare(ctx, compareConfig(model, model, input), nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			if err := verb(t.Context(), filepath.Join(t.TempDir(), "whole")); err != nil {
				t.Fatal(err)
			}
			whole := time.Since(start)
			moments := 8
			if longtest.Enabled() {
				moments = 30
			}
			for i := range moments {
				ctx, cancel := context.WithCancel(t.Context())
				if i == 0 {
					cancel() // before the verb begins
				}
				time.AfterFunc(whole*time.Duration(i)/time.Duration(moments), cancel)
				err := verb(ctx, filepath.Join(t.TempDir(), "output"))
				cancel()
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("after %d of %d parts of a run: %v", i, moments, err)
				}
			}
		})
	}
}

// oneMember leaves the grid a sole member.
func oneMember(c *config.Train) {
	c.Algorithm, c.Tests = []split.Algorithm{split.EC45}, []split.Family{split.Thresholds}
	c.Lambda, c.Theta = []float64{10}, []float64{0.005}
}

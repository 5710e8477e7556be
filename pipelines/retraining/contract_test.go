package retraining_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// TestContract: the contract names the label; rows that break it are too many, or are left out of the
// training and of the gate, and listed. Another contract makes another run of the day.
func TestContract(t *testing.T) {
	c := newConfig(t)
	c.Train.Label, c.Train.ContractFile, c.Train.MaxRejects = "", filepath.Join(t.TempDir(), "contract.yaml"), 300
	write := func(most string) {
		text := "format: espalier/contract\nversion: 1\ncolumns:\n" +
			"- {name: x, type: number, role: feature, min: 0, max: " + most + "}\n- {name: class, type: text, role: label}\n"
		if err := os.WriteFile(c.Train.ContractFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func() *retraining.Attempt {
		a, repeated, err := retraining.Retrain(t.Context(), c, engine.Silent{})
		if err != nil || repeated || a.Outcome != retraining.Promoted {
			t.Fatalf("%+v, %v", a, err)
		}
		return a
	}
	write("1")
	all := run()
	write("0.9") // x is from 0 to 1: about 200 of 2,000 rows break it
	fewer := run()
	if all.Rows != 2000 { // all rows of newConfig
		t.Errorf("%d rows, want 2,000", all.Rows)
	}
	if fewer.Rows >= all.Rows-100 || fewer.Rows < all.Rows-300 || fewer.Run == all.Run {
		t.Errorf("%s of %d rows, want fewer than %d of %s", fewer.Run, fewer.Rows, all.Rows, all.Run)
	}
	for _, a := range []*retraining.Attempt{all, fewer} {
		if _, err := os.Stat(filepath.Join(c.Destination, "rejects", filepath.Base(a.Run)+".parquet")); err != nil {
			t.Error(err)
		}
	}
	write("0.5")
	a, _, err := retraining.Retrain(t.Context(), c, engine.Silent{})
	if !errors.As(err, new(*dataset.DataError)) || a.Outcome != retraining.Failed {
		t.Errorf("%+v, %v: want an attempt that fails by its data", a, err)
	}
	c.Train.Rejects = "rejects.parquet"
	if _, _, err := retraining.Retrain(t.Context(), c, engine.Silent{}); err == nil || !strings.Contains(err.Error(), "leave it out") {
		t.Errorf("--rejects: %v", err)
	}
}

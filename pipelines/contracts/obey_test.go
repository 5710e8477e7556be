package contracts_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
)

// TestReadOnce: a contract that changes while a run is at work is the same for all of the run's work, as
// copies of its settings have what was read.
func TestReadOnce(t *testing.T) {
	var c config.Train
	c.ContractFile = filepath.Join(t.TempDir(), "contract.yaml")
	write := func(label string) {
		text := "format: espalier/contract\nversion: 1\ncolumns:\n- {name: " + label + ", type: text, role: label}\n"
		if err := os.WriteFile(c.ContractFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	if err := contracts.ReadAndObey(t.Context(), &c); err != nil || c.Label != "first" {
		t.Fatalf("label %q, %v; want first", c.Label, err)
	}
	write("second")
	later := c
	again, err := contracts.Read(t.Context(), &later.Contract)
	if err != nil || again.Columns[0].Name != "first" {
		t.Errorf("%+v, %v; want the contract that was read first", again, err)
	}
}

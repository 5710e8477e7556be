package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCostsOfNumbers: prices of the values of a numeric feature are an error, and no value is called absent before.
func TestCostsOfNumbers(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{
		"rows.csv":  "x,y\n" + strings.Repeat("1,no\n2,yes\n", 20),
		"costs.csv": "feature,value,cost\nx,1,5\n",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	espalier(t, "import", at("rows.csv"), "--output", at("rows")).wants(t, 0)
	o := espalier(t, "train", "--input", at("rows"), "--label", "y", "--costs", at("costs.csv"), "--output", at("run"))
	if o.wants(t, 2, `"x" is numeric`); strings.Contains(o.stderr, "lack the values") {
		t.Errorf("stderr:\n%s", o.stderr)
	}
}

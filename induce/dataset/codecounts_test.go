package dataset_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestCodeCounts: counts are the same after a round trip through JSON, and damaged texts are refused.
func TestCodeCounts(t *testing.T) {
	for _, want := range []dataset.CodeCounts{{}, {{}}, {{0, 1, 1 << 40}, {}, {7}}} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got dataset.CodeCounts
		if err := json.Unmarshal(b, &got); err != nil {
			t.Errorf("%s: %v", b, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", b, diff)
		}
	}
	for _, text := range []string{`"A"`, `"Ag=="`, `"AQIB"`, `"AAA="`, `"/////w8="`, `[[1]]`} {
		var got dataset.CodeCounts
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s: read as %v", text, got)
		}
	}
}

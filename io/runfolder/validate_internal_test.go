package runfolder

import (
	"strings"
	"testing"
)

// TestSchemasAnywhere: documents are checked in whatever folder the process works.
func TestSchemasAnywhere(t *testing.T) {
	for name := range Schemas() {
		t.Chdir(t.TempDir())
		if err := validate(name, []byte("0")); err == nil || !strings.HasPrefix(err.Error(), "damaged: ") {
			t.Errorf("%s: error %v for a document that is a number", name, err)
		}
	}
}

package source

import (
	"strings"
	"testing"
)

// TestOpenFiles: workers open the storage of a run by its settings.
func TestOpenFiles(t *testing.T) {
	if s, err := openFiles(nil); err != nil || s != Process {
		t.Errorf("%v, %v: want the storage of the default settings", s, err)
	}
	f := Begin(Config{ReadAhead: 5, StorageTimeout: 0.5})
	defer f.End()
	if s, err := openFiles(f.Run.Name().Settings); err != nil || s == Process {
		t.Errorf("%v, %v: want storage of these settings", s, err)
	}
	if _, err := openFiles([]byte(`{"read_behind": 5}`)); err == nil || !strings.Contains(err.Error(), "storage settings of the run") {
		t.Errorf("unknown setting: %v", err)
	}
}

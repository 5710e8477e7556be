package transforms

import "testing"

// WithoutStorage leaves reading to the file systems of Beam, as where package
// pipelines is not in the program, until the test ends.
func WithoutStorage(t *testing.T) {
	t.Helper()
	before := runs.open
	SetStorage(nil)
	t.Cleanup(func() { SetStorage(before) })
}

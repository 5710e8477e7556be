// Package longtest decides which tests run, and whether they go through all of many similar cases.
//
//   - The README's command leaves out the tests that call [Skip], as it is to end within minutes.
//   - With ESPALIER_TESTS=all, which .ci/run sets, the same command runs all tests.
//   - With the build tag long, all tests run with all cases.
//
// The package is not meant for other programs.
package longtest

import (
	"os"
	"testing"
)

// Enabled reports whether tests go through all cases.
func Enabled() bool { return enabled }

// Skip skips a test that takes seconds and whose subject other tests have as well, unless all tests
// are asked for.
func Skip(tb testing.TB) {
	tb.Helper()
	if !enabled && os.Getenv("ESPALIER_TESTS") != "all" {
		tb.Skip("the test takes seconds, and quicker tests have its subject: it waits for ESPALIER_TESTS=all, which .ci/run sets")
	}
}

// Package gcstest runs fake-gcs-server, an emulator of Cloud Storage, for tests.
//
// # Differences to Cloud Storage
//
// The suite and the tests of faults found these differences of v1.56.1. A handler in front
// of the emulator, in the program emulators, corrects them:
//
//   - The emulator appends a piece of a resumable upload again if it is sent again.
//     Cloud Storage ignores bytes that it already has.
//   - If the last piece is sent again, the emulator finds no upload. Cloud Storage answers
//     with the object.
//   - The emulator says "Not Found" of a missing bucket and of a missing object. Cloud
//     Storage has a sentence for each.
//
// Rights, quotas, soft deletion and appendable objects remain without emulation.
package gcstest

import (
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
)

// Start runs an emulator with the given buckets until the test ends, and
// returns its URL.
func Start(tb testing.TB, buckets ...string) string {
	tb.Helper()
	return objectstoretest.StartEmulator(tb, "gcs", buckets...)
}

// Use directs drivers created later in this test to the server at the given URL: an emulator, or a
// proxy in front of an emulator.
func Use(tb testing.TB, url string) {
	tb.Helper()
	tb.Setenv("STORAGE_EMULATOR_HOST", url)
}

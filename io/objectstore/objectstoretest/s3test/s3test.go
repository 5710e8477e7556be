// Package s3test runs emulators of S3 for tests: gofakes3 and versitygw.
//
// # Differences of gofakes3 to S3
//
// The suite and the tests of faults found these differences of v1.2.0. A handler in front
// of the emulator, in the program emulators, corrects them:
//
//   - The emulator ignores If-Match of reads.
//   - It ignores If-Match and If-None-Match of the completion of a multipart upload.
//
// Signatures, rights, regions, checksums of parts and the least size of a part remain
// without emulation.
package s3test

import (
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
)

// Start runs gofakes3 with the given buckets until the test ends, and returns
// its URL.
func Start(tb testing.TB, buckets ...string) string {
	tb.Helper()
	return objectstoretest.StartEmulator(tb, "s3", buckets...)
}

// Use directs drivers created later in this test to the server at the given URL: an emulator, or a
// proxy in front of an emulator. The drivers ignore the machine's AWS settings.
func Use(tb testing.TB, url string) {
	tb.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL":            url,
		"AWS_ENDPOINT_URL_S3":         "",
		"AWS_ACCESS_KEY_ID":           AccessKey,
		"AWS_SECRET_ACCESS_KEY":       SecretKey,
		"AWS_SESSION_TOKEN":           "",
		"AWS_PROFILE":                 "",
		"AWS_REGION":                  "",
		"AWS_DEFAULT_REGION":          "",
		"AWS_CONFIG_FILE":             "/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
		"AWS_EC2_METADATA_DISABLED":   "true",
	} {
		tb.Setenv(name, value)
	}
}

// The credentials that Use sets and the emulators expect.
const (
	AccessKey = "espalier"
	SecretKey = "espalier-secret"
)

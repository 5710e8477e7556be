package objectstoretest

import "testing"

// StartGCS runs fake-gcs-server, an emulator of Cloud Storage, with the given buckets until the test ends, and returns
// its URL.
//
// The suite and the tests of faults found these differences of v1.56.1 to Cloud Storage. A handler in front of the
// emulator, in the program emulators, corrects them:
//
//   - The emulator appends a piece of a resumable upload again if it is sent again.
//     Cloud Storage ignores bytes that it already has.
//   - If the last piece is sent again, the emulator finds no upload. Cloud Storage answers
//     with the object.
//   - The emulator says "Not Found" of a missing bucket and of a missing object. Cloud
//     Storage has a sentence for each.
//
// Rights, quotas, soft deletion and appendable objects remain without emulation.
func StartGCS(tb testing.TB, buckets ...string) string {
	tb.Helper()
	return startEmulator(tb, "gcs", buckets)
}

// UseGCS directs drivers created later in this test to the server at the given URL: an emulator, or a
// proxy in front of an emulator.
func UseGCS(tb testing.TB, url string) {
	tb.Helper()
	tb.Setenv("STORAGE_EMULATOR_HOST", url)
}

// StartS3 runs gofakes3, an emulator of S3, with the given buckets until the test ends, and returns its URL.
//
// The suite and the tests of faults found these differences of v1.2.0 to S3. A handler in front of the emulator, in the
// program emulators, corrects them:
//
//   - The emulator ignores If-Match of reads.
//   - It ignores If-Match and If-None-Match of the completion of a multipart upload.
//
// Signatures, rights, regions, checksums of parts and the least size of a part remain
// without emulation.
func StartS3(tb testing.TB, buckets ...string) string {
	tb.Helper()
	return startEmulator(tb, "s3", buckets)
}

// UseS3 directs drivers created later in this test to the server at the given URL: an emulator, or a
// proxy in front of an emulator. The drivers ignore the machine's AWS settings.
func UseS3(tb testing.TB, url string) {
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

// The credentials that UseS3 sets and the emulators expect.
const (
	AccessKey = "espalier"
	SecretKey = "espalier-secret"
)

package conformance_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
)

// versityGW is the environment variable that names the binary of versitygw.
const versityGW = "ESPALIER_VERSITYGW"

// startVersityGW runs versitygw with the given buckets until the test ends, and returns its
// URL. versitygw is a real server with objects in files. Without the variable versityGW the
// test is skipped.
func startVersityGW(tb testing.TB, buckets ...string) string {
	tb.Helper()
	binary := os.Getenv(versityGW)
	if binary == "" {
		tb.Skipf("%s does not name a binary: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0", versityGW)
	}
	root := tb.TempDir()
	for _, name := range buckets {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	address := freeAddress(tb)
	var output lockedBuffer
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, "--port", address, "--access", objectstoretest.AccessKey, "--secret", objectstoretest.SecretKey, "posix",
		root)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		cancel()
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		if tb.Failed() {
			tb.Logf("versitygw said:\n%s", output.String())
		}
	})
	url := "http://" + address
	await(tb, url, &output)
	return url
}

// freeAddress returns a local address without a listener.
func freeAddress(tb testing.TB) string {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nothing was accepted
	return l.Addr().String()
}

// await waits for any answer of a server.
func await(tb testing.TB, url string, output *lockedBuffer) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			tb.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	tb.Fatalf("versitygw does not answer:\n%s", output.String())
}

// lockedBuffer is written by a program while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns what was written.
func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

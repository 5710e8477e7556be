package objectstoretest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// startEmulator runs an emulator with the given buckets until the test ends, and returns its
// URL. The kind is gcs for Cloud Storage and s3 for S3. The emulators are a program in a
// module of their own. The first start in a test process builds it, and runs it until the
// process ends.
func startEmulator(tb testing.TB, kind string, buckets []string) string {
	tb.Helper()
	e, err := emulators()
	if err != nil {
		tb.Fatal(err)
	}
	url, err := e.start(kind, buckets)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.end(url); err != nil {
			tb.Error(err)
		}
	})
	return url
}

// program is the program of emulators while it runs.
type program struct {
	process *exec.Cmd
	input   io.WriteCloser // closed by the system if this process dies
	said    bytes.Buffer   // on standard error; read after the end

	mu     sync.Mutex // a line and its answer are one step
	output *bufio.Reader
}

// emulators is the program shared by all tests of a process: finding that there is nothing to build
// takes half a second, and starting it 20 ms.
var emulators = sync.OnceValues(runEmulators) //nolint:gochecknoglobals // one process, one program

// runEmulators builds the program, unless Go's build cache has it, and runs it.
func runEmulators() (*program, error) {
	p := new(program)
	root := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/espalier-ml/espalier")
	root.Stderr = &p.said
	found, err := root.Output()
	if err != nil {
		return nil, fmt.Errorf("finding the emulators: %w\n%s", err, &p.said)
	}
	folder := filepath.Join(strings.TrimSpace(string(found)), "io", "objectstore", "objectstoretest", "emulators")
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("only a clone of the repository has emulators: %w", err)
	}
	for _, f := range files { // so that go test sees by their times whether a cached result is valid
		if _, err := os.Stat(filepath.Join(folder, f.Name())); err != nil {
			return nil, err
		}
	}
	build := exec.Command("go", "-C", folder, "tool", "-n", "emulators") // prints its path
	build.Env = append(os.Environ(), "GOWORK=off")
	build.Stderr = &p.said
	path, err := build.Output()
	if err != nil {
		return nil, fmt.Errorf("building the emulators: %w\n%s", err, &p.said)
	}
	p.said.Reset() // modules that were downloaded
	p.process = exec.Command(strings.TrimSpace(string(path)))
	p.process.Stderr = &p.said
	if p.input, err = p.process.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.output = bufio.NewReader(output)
	return p, p.process.Start()
}

// start starts an emulator and returns its URL.
func (p *program) start(kind string, buckets []string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := fmt.Fprintln(p.input, "start", kind, strings.Join(buckets, " "))
	if err != nil {
		return "", p.ended(err)
	}
	url, err := p.output.ReadString('\n')
	if err != nil {
		return "", p.ended(err)
	}
	return strings.TrimSpace(url), nil
}

// end ends the emulator at a URL.
func (p *program) end(url string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := fmt.Fprintln(p.input, "end", url); err != nil {
		return p.ended(err)
	}
	return nil
}

// ended returns what the program said at its end.
func (p *program) ended(err error) error {
	_ = p.input.Close() // it has already ended
	return fmt.Errorf("the emulators ended: %w\n%s", errors.Join(err, p.process.Wait()), &p.said)
}

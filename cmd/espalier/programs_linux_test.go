package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
)

// program is a program of docs/go.md, built as a user builds it: in a module of its own.
type program struct{ dir, file string }

// newProgram builds a program in a new folder, whose folder visits has the rows of the page.
func newProgram(t *testing.T, name, source string) *program {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	p := &program{dir: t.TempDir()}
	p.file = filepath.Join(p.dir, name)
	visits(t, filepath.Join(p.dir, "visits"))
	module := read(t, filepath.Join(root, "go.mod")) // with the versions of all modules, as nothing can be fetched here
	_, module, _ = bytes.Cut(module, []byte("\n"))
	module = fmt.Appendf(nil, "module example.com/%s\n%s\nrequire github.com/espalier-ml/espalier v0.0.0\n"+
		"replace github.com/espalier-ml/espalier => %s\n", name, module, root)
	for file, content := range map[string][]byte{
		"main.go": []byte(source), "go.mod": module, "go.sum": read(t, filepath.Join(root, "go.sum")),
	} {
		if err := os.WriteFile(filepath.Join(p.dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-mod=mod", "-o", name, ".")
	build.Dir = p.dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return p
}

// start starts the program in its folder. Its output goes to a buffer.
func (p *program) start(t *testing.T, args ...string) (run *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	run, out = exec.CommandContext(t.Context(), p.file, args...), &bytes.Buffer{}
	run.Dir, run.Stdout, run.Stderr = p.dir, out, out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	return run, out
}

// written waits for the end of a run, and removes and returns the files that it has written.
func (p *program) written(t *testing.T, run *exec.Cmd, out *bytes.Buffer, patterns ...string) map[string]string {
	t.Helper()
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, tail(out.Bytes(), 4000))
	}
	all := make(map[string]string)
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(p.dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no file, error %v\n%s", pattern, err, tail(out.Bytes(), 4000))
		}
		for _, file := range found {
			all[strings.TrimPrefix(file, p.dir)] = string(read(t, file))
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, folder := range []string{"runs", "trees"} {
		if err := os.RemoveAll(filepath.Join(p.dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestFlinkPrograms: the programs of docs/go.md, among them the nightly job that publishes its tree, are the workers of their pipelines on Flink. They write there the
// bytes that they write here, and also if a worker is killed. A program whose main reads flags before it calls
// worker.Main is told so before any job.
func TestFlinkPrograms(t *testing.T) {
	flink.require(t)
	e := flink.start(t)
	onFlink := func(p *program) []string {
		return append(e.flags("PROCESS", "2"), "--environment_config", fmt.Sprintf(`{"command":%q}`, p.file), "--worker_binary",
			os.DevNull)
	}
	for name, c := range map[string]struct {
		args     func(p *program) []string
		patterns []string
		files    int
	}{
		"nightly": {
			func(*program) []string { return []string{e.endpoint} },
			[]string{"runs/nightly/tree.json", "runs/nightly/metrics.json", "runs/nightly/schema.json"},
			3,
		},
		"hours": {onFlink, []string{"visits/*.json"}, 7},
		"night": {onFlink, []string{"trees/runs/*/tree.json", "trees/runs/*/metrics.json"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t, name, snippet(t, "go.md", "// Command "+name+" "))
			run, out := p.start(t)
			want := p.written(t, run, out, c.patterns...)
			if len(want) != c.files {
				t.Fatalf("%d files here, want %d", len(want), c.files)
			}
			for moment, hit := 0, false; !hit; moment++ {
				if moment == 10 {
					t.Fatal("no worker was killed at work")
				}
				before := e.restarts(t)
				run, out = p.start(t, c.args(p)...)
				_ = syscall.Kill(newWorker(t, p.file, nil), syscall.SIGKILL) // it may have ended before
				got := p.written(t, run, out, c.patterns...)
				hit = e.restarts(t) > before
				for file, content := range want {
					if got[file] != content {
						t.Errorf("%s differs, worker killed: %v", file, hit)
					}
				}
			}
		})
	}
	t.Run("flags first", func(t *testing.T) {
		source := snippet(t, "go.md", "// Command nightly")
		source = strings.Replace(source, "worker.Main()", "", 1)
		source = strings.Replace(source, "flag.Parse()", "flag.Parse(); worker.Main()", 1)
		run, out := newProgram(t, "late", source).start(t, e.endpoint)
		err := run.Wait()
		const want = "exit status 2: flag provided but not defined: -provision_endpoint): main calls worker.Main first"
		if err == nil || !strings.Contains(out.String(), want) || strings.Contains(out.String(), "job is") {
			t.Errorf("%v\n%s\nwant %s", err, out, want)
		}
	})
}

// TestDataflowTemplate: a pipeline of docs/go.md is translated for Dataflow as a template in an emulated bucket, whose
// workers are containers of the given image.
func TestDataflowTemplate(t *testing.T) {
	if !longtest.Enabled() {
		t.Skip("waits for -tags long (make long), as it builds a program")
	}
	c := emptyCloud(t, "gs")
	p := newProgram(t, "hours", snippet(t, "go.md", "// Command hours"))
	run, out := p.start(t, "--runner", "dataflow", "--project", "project", "--region", "europe-west1", "--staging_location",
		"gs://bucket/staging", "--template_location", "gs://bucket/template.json", "--sdk_container_image", "registry/hours:1")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, tail(out.Bytes(), 4000))
	}
	template, err := c.store.ReadAll(t.Context(), "gs://bucket/template.json", 0)
	if err != nil || !json.Valid(template) || !bytes.Contains(template, []byte(`"registry/hours:1"`)) {
		t.Errorf("%v, the template is %.500s", err, template)
	}
}

package tree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scoringProgram decodes a tree.json and scores a row of missing values.
const scoringProgram = `package main

import (
	"fmt"
	"os"

	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/tree"
)

func main() {
	b, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	t, err := tree.Decode(b)
	if err != nil {
		panic(err)
	}
	s, err := gorows.NewMapScorer(t)
	if err != nil {
		panic(err)
	}
	p, err := s.Predict(nil)
	fmt.Println(p.Class, err)
}
`

// TestOneModule: a program that imports only packages tree and gorows builds without any other
// module, as docs/scoring.md says: the build has no network and an empty module cache.
func TestOneModule(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/program\n\ngo 1.26\n\nrequire github.com/espalier-ml/espalier v0.0.0\n\n" +
			"replace github.com/espalier-ml/espalier => " + root + "\n",
		"main.go": scoringProgram,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(argv ...string) string {
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod "+os.Getenv("GOFLAGS"), "GOWORK=off", "GOTOOLCHAIN=local",
			"GOMODCACHE="+filepath.Join(dir, "modules"))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
		}
		return string(out)
	}
	command("go", "build", "-o", "program", ".")
	model, err := filepath.Abs(filepath.Join("testdata", "golden", "small.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := command("./program", model); !strings.Contains(got, "<nil>") {
		t.Errorf("the program says %q", got)
	}
	info, err := os.Stat(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the program has %d bytes", info.Size())
	if most := int64(5_000_000); info.Size() > most {
		t.Errorf("the program has %d bytes, docs/scoring.md says 3.9 MB", info.Size())
	}
}

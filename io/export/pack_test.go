package export_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/report"
)

// written returns a tree as a file.
func written(t *testing.T, m *tree.Tree, o export.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := export.Write(&b, m, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// files writes files to a new folder.
func files(t *testing.T, contents map[string][]byte) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range contents {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// run runs a command of the shell in a folder.
func run(t *testing.T, folder, command string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", command)
	c.Dir = folder
	out, err := c.CombinedOutput()
	return string(out), err
}

// needs skips a test if a command of the shell fails.
func needs(t *testing.T, command, what string) {
	t.Helper()
	if out, err := run(t, t.TempDir(), command); err != nil {
		t.Skipf("waits for %s: %v: %.200s", what, err, out)
	}
}

// golden returns the golden rows of a tree as JSON.
func golden(t *testing.T, m *tree.Tree) []byte {
	t.Helper()
	cases, err := export.Cases(m, export.GoldenRows(m))
	if err != nil {
		t.Fatal(err)
	}
	b, err := export.GoldenFile(m, cases)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	wheelFile = "churn-1.2-py3-none-any.whl"
	npmFile   = "churn-1.2.0.tgz"
)

// TestPackageBytes: a tree always gives the same package, which export knows as its own.
func TestPackageBytes(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/both.json")
	for _, o := range []export.Options{{Format: "python", File: wheelFile}, {Format: "javascript", File: npmFile}} {
		first := written(t, m, o)
		if !bytes.Equal(first, written(t, m, o)) {
			t.Errorf("%s: two files differ", o.File)
		}
		if !export.IsExport(first[:128]) {
			t.Errorf("%s: not known as one of export's: %q", o.File, first[:128])
		}
	}
}

// TestWheel: pip installs the wheel, and the classifier passes what scikit-learn checks.
func TestWheel(t *testing.T) {
	t.Parallel()
	needs(t, "python3 -m pip --version && python3 -c 'import sklearn, pandas'", "pip, scikit-learn and pandas")
	names, checks := []string{"both"}, ""
	if longtest.Enabled() {
		checks = " checks" // of scikit-learn, on other numbers of features than that of both
		names = append(names, "dated", "boosted")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := read(t, "../../induce/tree/testdata/golden/"+name+".json")
			check, err := os.ReadFile("testdata/check_wheel.py")
			if err != nil {
				t.Fatal(err)
			}
			folder := files(t, map[string][]byte{
				wheelFile: written(t, m, export.Options{Format: "python", File: wheelFile}), "check_wheel.py": check,
				"golden.json": golden(t, m),
			})
			out, err := run(t, folder, "python3 -m pip install -q --no-index --no-deps --disable-pip-version-check --target site "+
				wheelFile+" && PYTHONPATH=site python3 check_wheel.py golden.json "+name+checks)
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestWheelTypes: mypy takes the package and a program that uses it.
func TestWheelTypes(t *testing.T) {
	t.Parallel()
	if !longtest.Enabled() {
		t.Skip("waits for -tags long: mypy takes ten seconds")
	}
	needs(t, "python3 -m pip --version && python3 -m mypy --version", "pip and mypy")
	m := read(t, "../../induce/tree/testdata/golden/both.json")
	folder := files(t, map[string][]byte{
		wheelFile: written(t, m, export.Options{Format: "python", File: wheelFile}),
		"use.py":  []byte("from churn import Classifier, predict\n\nreveal_type(predict({}).probabilities)\nClassifier().fit([{}])\n"),
	})
	out, err := run(t, folder, "python3 -m pip install -q --no-index --no-deps --disable-pip-version-check --target site "+
		wheelFile+" && MYPYPATH=site python3 -m mypy --strict --follow-imports silent --ignore-missing-imports --no-warn-unused-ignores use.py")
	if err != nil || !strings.Contains(out, `list[float]`) && !strings.Contains(out, "List[float]") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestNpmPackage: npm installs the package, TypeScript takes its types, and it predicts.
func TestNpmPackage(t *testing.T) {
	t.Parallel()
	needs(t, "npm --version && tsc --version", "npm and TypeScript")
	names := []string{"dated"}
	if longtest.Enabled() {
		names = append(names, "both")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := read(t, "../../induce/tree/testdata/golden/"+name+".json")
			o := export.Options{Format: "javascript", File: npmFile}
			cases, err := export.Cases(m, export.GoldenRows(m))
			if err != nil {
				t.Fatal(err)
			}
			test, err := export.GoldenTest(m, cases, o, "churn.test.mjs")
			if err != nil {
				t.Fatal(err)
			}
			folder := files(t, map[string][]byte{
				npmFile: written(t, m, o), "churn.test.mjs": test,
				"package.json": []byte(`{"name": "use", "version": "1.0.0", "type": "module"}`),
				"use.ts": []byte(`import { predict, predictLazy, CLASSES, type Class, type Prediction } from "churn";
const one: Prediction = predict({});
const other: Class = predictLazy((name) => (name.length > 100 ? null : NaN)).class;
export const same: boolean = one.class === other && CLASSES.includes(one.class);
// @ts-expect-error an object is no value
predict({ ` + strconv.Quote(m.Tested().Features[0].Name) + `: {} });
`),
			})
			out, err := run(t, folder, "npm install --no-audit --no-fund --offline ./"+npmFile+
				" && tsc --strict --noEmit --module nodenext --target es2022 use.ts && node --test churn.test.mjs")
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestGoldenTests: the golden rows as a test of each language pass if they are next to the file,
// and fail if a cut of the file is moved.
func TestGoldenTests(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/small.json")
	cases, err := export.Cases(m, export.GoldenRows(m))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ format, name, file, test, command, module string }{
		{"go", "model", "model.go", "model_test.go", "go test .", "module model\n\ngo 1.22\n"},
		{"c", "", "churn.c", "test_churn.c", "cc -std=c99 -Wall -Wextra -Werror -o test test_churn.c -lm && ./test", ""},
		{
			"java", "org.example.Churn", "Churn.java", "ChurnTest.java",
			"javac -d . Churn.java ChurnTest.java && java -cp . org.example.ChurnTest", "",
		},
		{"python", "", "churn.py", "test_churn.py", "python3 -m unittest test_churn.py", ""},
		{"javascript", "", "churn.mjs", "churn.test.mjs", "node --test churn.test.mjs", ""},
	} {
		t.Run(c.format, func(t *testing.T) {
			t.Parallel()
			o := export.Options{Format: c.format, Name: c.name, File: c.file, With: export.With{Path: true}}
			if !export.Runs(o) {
				t.Skipf("waits for what runs %s", c.format)
			}
			test, err := export.GoldenTest(m, cases, o, c.test)
			if err != nil {
				t.Fatal(err)
			}
			source := written(t, m, o)
			contents := map[string][]byte{c.file: source, c.test: test, "go.mod": []byte(c.module)}
			if out, err := run(t, files(t, contents), c.command); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			contents[c.file] = bytes.Replace(source, []byte(">= 30.5"), []byte(">= 31.5"), 1)
			if bytes.Equal(contents[c.file], source) {
				t.Fatal("the file has no cut at 30.5")
			}
			if out, err := run(t, files(t, contents), c.command); err == nil {
				t.Errorf("a moved cut is not found: %s", out)
			}
		})
	}
}

// TestPathWords: the path in a file is that of predict.
func TestPathWords(t *testing.T) {
	t.Parallel()
	if !export.Runs(export.Options{Format: "python"}) {
		t.Skip("waits for Python 3")
	}
	m := read(t, "../../induce/tree/testdata/golden/both.json")
	folder := files(t, map[string][]byte{
		"model.py": written(t, m, export.Options{Format: "python", With: export.With{Path: true}}),
		"all.py":   []byte("import model\nprint('\\n'.join(' and '.join(model._path(l[0])) for l in model.LEAVES))\n"),
	})
	out, err := run(t, folder, "python3 all.py")
	if want := strings.Join(report.Paths(m.Tested()), "\n") + "\n"; err != nil || out != want {
		t.Errorf("%v: %s: want %s", err, out, want)
	}
	if plain := written(t, m, export.Options{Format: "python"}); bytes.Contains(plain, []byte("path")) {
		t.Error("a file without --with path has one")
	}
}

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// readmeLines is the greatest number of lines of the README, which is read in one sitting.
const readmeLines = 150

// TestExample runs the README's first command, from the top of the checkout. README.md shows what it prints.
func TestExample(t *testing.T) {
	readme := string(read(t, filepath.Join("..", "..", "README.md")))
	if n := strings.Count(readme, "\n"); n > readmeLines {
		t.Errorf("README.md has %d lines, at most %d are wanted: details belong into docs", n, readmeLines)
	}
	output := filepath.Join(t.TempDir(), "run")
	at := func(name string) string { return filepath.Join("example", name) }
	o := espalier(t, "train", "--config", at("mushroom.yaml"), "--input", at("mushroom.parquet"), "--costs",
		at("mushroom.csv"), "--output", output)
	o.wants(t, 0)
	printed := strings.ReplaceAll(o.stdout, output, "runs/mushroom")
	if !slices.Contains(slices.Collect(maps.Values(fenced(readme, "text"))), printed) {
		t.Errorf("README.md does not show what the command prints:\n%s", printed)
	}
	if o.stderr != "" {
		t.Errorf("a run of less than two seconds writes %q to stderr", o.stderr)
	}
	figures := espalier(t, "show", output, "--figures")
	figures.wants(t, 0)
	for _, text := range []string{"validation  ", "class (test)", "stalk_shape ", "the frontier: ", "5 folds: AUC", "costs less than"} {
		if !strings.Contains(figures.stdout, text) {
			t.Errorf("the figures lack %q:\n%s", text, figures.stdout)
		}
	}
	espalier(t, "show", output, "--figures", "--node", "2").wants(t, 2, "--figures")
	drawn := filepath.Join(t.TempDir(), "frontier.svg")
	espalier(t, "show", output, "--picture", "frontier", "--output", drawn).wants(t, 0)
	if !bytes.Equal(read(t, drawn), read(t, filepath.Join("..", "..", "docs", "frontier.svg"))) {
		t.Error("docs/frontier.svg is not what espalier show draws of the example")
	}
}

// TestStart runs the first command of docs/start.md. The page shows the tree and all that follows it.
func TestStart(t *testing.T) {
	page := string(read(t, filepath.Join("..", "..", "docs", "start.md")))
	output := filepath.Join(t.TempDir(), "run")
	o := espalier(t, "train", "--input", filepath.Join("..", "..", "bench", "data", "credit-g"), "--label", "class", "--output", output)
	o.wants(t, 0)
	printed := strings.ReplaceAll(o.stdout, output, "runs/credit")
	_, tree, _ := strings.Cut(printed, "\n\n")
	if !slices.Contains(slices.Collect(maps.Values(fenced(page, "text"))), tree) {
		t.Errorf("docs/start.md does not show what the command prints:\n%s", tree)
	}
}

// checkScreen checks the size of the first screen about a run. Lines with the folder, which is long in tests,
// may be longer than others.
func checkScreen(t *testing.T, screen, output string) {
	t.Helper()
	const columns = 80
	lines := 25
	if strings.Contains(screen, "\nrows weigh ") {
		lines += 2 // which is said in three lines
	}
	if n := strings.Count(screen, "\n"); n > lines {
		t.Errorf("the screen has %d lines, at most %d are wanted:\n%s", n, lines, screen)
	}
	for line := range strings.Lines(screen) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns && !strings.Contains(line, output) {
			t.Errorf("a line of the screen has %d columns, at most %d are wanted: %q", n, columns, line)
		}
	}
}

// TestDocuments validates what runs write by the JSON Schemas.
func TestDocuments(t *testing.T) {
	longtest.Skip(t)
	input := mixed(t, 600, parquetio.WriteOptions{})
	errorCosts := filepath.Join(t.TempDir(), "errors.csv")
	if err := os.WriteFile(errorCosts, []byte("actual,predicted,cost\na,b,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	groups := filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(groups, []byte("feature,cost,group,group_cost\nx,1,lab,2.5\ns,2,lab,2.5\nn,0.5,,\n"),
		0o666); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string][]string{
		"default":   nil,
		"paper":     {"--preset", "paper", "--algorithm", "cart"},
		"multiway":  {"--tests", "multiway", "--max_depth", "3", "--ignore", "w"},
		"both":      {"--tests", "both", "--bins", "8", "--binning", "kmeans", "--max_leaves", "9", "--min_rows", "5"},
		"weighted":  {"--weight", "w", "--leaf_estimate", "raw", "--max_categories", "4", "--theta", "0"},
		"uniform":   {"--binning", "uniform", "--categorical", "n", "--numeric", "flag", "--group", "n", "--seed", "7"},
		"all rows":  {"--split", "100/0/0", "--algorithm", "ip", "--memory_objects", "0"},
		"on prism":  append(onPrism(t), "--algorithm", "bal"),
		"classes":   {"--class_weights", "balanced", "--priors", "a=0.7,b=0.2,c=0.1", "--error_costs", errorCosts},
		"one level": {"--memory_objects", "50", "--algorithm", "asr"},
		"wishes":    {"--first", "s,n", "--forbid", "flag"},
		"billed":    {"--costs", groups, "--repeat_cost", "free", "--cost_unit", "euros"},
		"folds":     {"--folds", "3"},
	} {
		if !longtest.Enabled() && !slices.Contains([]string{"default", "weighted", "on prism", "classes", "one level", "billed", "folds"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name != "default" {
				flags = append(flags, "--lambda", "10")
			}
			o, output := train(t, input, flags...)
			o.wants(t, 0)
			for _, document := range []string{"tree", "metrics", "schema", "manifest"} {
				if _, err := os.Stat(filepath.Join(output, document+".json")); err != nil {
					t.Error(err)
				}
			}
			validateAll(t, "train", output)
			checkScreen(t, o.stdout, output)
			if !strings.Contains(o.stdout, output) || !strings.Contains(o.stdout, "AUC ") ||
				!strings.Contains(o.stdout, "Cost per row") {
				t.Errorf("stdout lacks the folder, AUC or cost:\n%s", o.stdout)
			}
			if name == "folds" && !strings.Contains(espalier(t, "show", output, "--figures").stdout, "3 folds: AUC ") {
				t.Error("the figures lack the folds")
			}
			espalier(t, "evaluate", "--model", output, "--input", input, "--progress", "none").wants(t, 0)
			scored := filepath.Join(t.TempDir(), "scored")
			p := espalier(t, "predict", "--model", output, "--input", input, "--output", scored, "--key", "n", "--explain",
				"--progress", "none")
			p.wants(t, 0)
			if !strings.Contains(p.stdout, "scored 600 rows") || !strings.Contains(p.stdout, "AUC") {
				t.Errorf("stdout of predict lacks rows or AUC:\n%s", p.stdout)
			}
			if seen := validateAll(t, "predict", scored); seen["metrics"] != 1 || seen["predictions"] != 1 {
				t.Errorf("documents of predict: %v", seen)
			}
			espalier(t, "show", "--model", filepath.Join(output, "tree.json")).wants(t, 0)
		})
	}
}

// compiledSchemas returns the schemas of all documents by name, compiled once for all tests.
var compiledSchemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	c, compiled := jsonschema.NewCompiler(), make(map[string]*jsonschema.Schema)
	for name, b := range runfolder.Schemas() {
		described, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err == nil {
			err = c.AddResource(name+".schema.json", described)
		}
		if err != nil {
			return nil, err
		}
	}
	for name := range runfolder.Schemas() {
		schema, err := c.Compile(name + ".schema.json")
		if err != nil {
			return nil, err
		}
		compiled[name] = schema
	}
	return compiled, nil
})

func validate(t *testing.T, document, file string) {
	t.Helper()
	schemas, err := compiledSchemas()
	if err != nil {
		t.Fatal(err)
	}
	schema, ok := schemas[document]
	if !ok {
		t.Fatalf("no schema of %s", document)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s.json: %v", document, err)
	}
}

// TestPrecedence: flags beat the config file, which beats the preset.
func TestPrecedence(t *testing.T) {
	input := mixed(t, 300, parquetio.WriteOptions{})
	config := filepath.Join(t.TempDir(), "train.yaml")
	content := "preset: paper\nlambda: 3\nbins: 7\nignore: w\ncategorical: [n]\nsplit: 80/0/20\n"
	if err := os.WriteFile(config, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	o, output := train(t, input, "--config", config, "--bins", "9")
	o.wants(t, 0)
	b, err := os.ReadFile(filepath.Join(output, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Config map[string]any }
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"tests": "onehot", "lambda": 3.0, "bins": 9.0, "binning": "kmeans",
		"split": "80/0/20",
	} {
		if got := manifest.Config[key]; got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	if got, ok := manifest.Config["ignore"].([]any); !ok || len(got) != 1 || got[0] != "w" {
		t.Errorf("ignore: %v, want [w]", manifest.Config["ignore"])
	}
}

// TestEmptiedFlags: a flag whose value is empty decides nothing, so it is refused, unless it empties what the file or the
// run sets, and lists of columns may be empty.
func TestEmptiedFlags(t *testing.T) {
	config := filepath.Join(t.TempDir(), "nightly.yaml")
	if err := os.WriteFile(config, []byte("input: a.parquet\nlabel: class\ngroup: who\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"train", "--config", config, "--output", "run", "--costs", ""},
		{"train", "--input", "a.parquet", "--label", "class", "--output", "run", "--config", ""},
		{"retrain", "--config", config, "--destination", "models", "--date", ""},
		{"predict", "run", "--input", "a.parquet", "--output", "scored", "--weight", ""},
		{"train", "--input", "a.parquet", "--label", "class", "--output", "run", "--priors", ""},
		{"drift", "run", "--input", "a.parquet", "--group", ""},
	} {
		espalier(t, args...).wants(t, 2, args[len(args)-2], "the value is empty")
	}
	espalier(t, "train", "--config", config, "--output", "run", "--group", "", "--categorical", "").wants(t, 2, "a.parquet")
	espalier(t, "train", "--config", config, "--output", "run", "--max_cost", "").wants(t, 2, "--max_cost", "want a number")
	espalier(t, "frontier", "run", "--min_sensitivity", "", "--dry_run").wants(t, 2, "run")
}

// TestFirst: what was listed is never left out unsaid where the preset takes the
// first tree, and lambda auto means the paper's choice.
func TestFirst(t *testing.T) {
	input := mixed(t, 300, parquetio.WriteOptions{})
	o, output := train(t, input, "--preset", "paper", "--lambda", "auto", "--progress", "plain")
	o.wants(t, 0, "--select paper")
	var manifest struct {
		Config struct{ Select, Lambda string }
	}
	if err := json.Unmarshal(read(t, filepath.Join(output, "manifest.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	if c := manifest.Config; c.Select != "paper" || c.Lambda != "auto" {
		t.Errorf("manifest.json: select %q, lambda %q", c.Select, c.Lambda)
	}
	if _, err := os.Stat(filepath.Join(output, "frontier.json")); err != nil {
		t.Errorf("one lambda alone was grown: %v", err)
	}
	for _, c := range []struct {
		flags []string
		words string
	}{
		{[]string{"--lambda", "auto", "--select", "first"}, "--lambda auto is a choice"},
		{[]string{"--lambda", "1,10"}, "--lambda 1,10: --select first uses only the first value"},
		{
			[]string{"--max_expected_cost", "2"},
			"--max_expected_cost 2 is a budget to choose by: --select first chooses nothing",
		},
		{[]string{"--max_cost", "2"}, "--max_cost 2 is a budget"},
	} {
		o, _ := train(t, input, append(c.flags, "--preset", "paper")...)
		o.wants(t, 2, c.words)
	}
	o, _ = train(t, input, "--preset", "paper", "--lambda", "1,10", "--select", "best")
	o.wants(t, 0)
}

// commandLine is a case of TestCommandLine.
type commandLine struct {
	args  []string
	code  int
	words []string // of stderr, or of stdout for code 0
}

// commandLines lists command lines with the exit code and words of the output. input is a Parquet
// file, misspelled and endless are config files with a fault.
func commandLines(input, misspelled, endless string) []commandLine {
	return []commandLine{
		{[]string{"compare", "a", "b", "--input", input}, 2, []string{"compare is evaluate --against now: espalier evaluate A --against B"}},
		{[]string{"plot", "a"}, 2, []string{"plot is show --picture now: espalier show RUN --picture frontier"}},
		{[]string{"whence", "a", "--json"}, 2, []string{"whence is show --origin now: espalier show FILE --origin"}},
		{[]string{"drift", "--format", "json"}, 2, []string{"--format is --json now"}},
		{[]string{"infer_schema", input, "--output", "x"}, 2, []string{"infer_schema is contract now: espalier contract"}},
		{[]string{"use", "models", "previous"}, 2, []string{"use is retrain use now: espalier retrain use models previous"}},
		{[]string{"retrain", "no.yaml", "--date", "2026-11-01"}, 2, []string{"no.yaml"}},
		{[]string{"predict", "no.yaml", "more.yaml"}, 2, []string{`unexpected argument "more.yaml"`}},
		{[]string{"train", "--key", "id"}, 2, []string{"--key is --group now"}},
		{[]string{"evaluate", "a", "--input", input, "--key", "id"}, 2, []string{"groups of rows are --group"}},
		{[]string{"train", "--schema", "c.yaml"}, 2, []string{"--schema is --contract now"}},
		{[]string{"synth", "--rows", "5"}, 2, []string{"go run ./bench/synth"}},
		{[]string{"version"}, 0, []string{"espalier ", ", go1.", "Beam 2.77.0"}},
		{[]string{"--version"}, 0, []string{"espalier ", ", go1.", "Beam 2.77.0"}},
		{[]string{"train", "--max_depth", "three"}, 2, []string{"espalier: --max_depth three: want a whole number"}},
		{[]string{"train", "--read_ahead", "much"}, 2, []string{"espalier: --read_ahead much: want a size such as 64MiB"}},
		{[]string{"train", "--label"}, 2, []string{"espalier: --label: a value is missing behind it"}},
		{[]string{"train", "--tests", "treshold"}, 2, []string{"--tests treshold: want one of onehot, threshold"}},
		{[]string{"help"}, 0, []string{"train", "evaluate", "Start here"}},
		{[]string{"--help_all"}, 0, []string{"train", "evaluate", "Exit codes"}},
		{nil, 0, []string{"train", "evaluate"}},
		{[]string{"train", "--help"}, 0, []string{"--max_expected_cost", "espalier train --input", "--help_all"}},
		{[]string{"train", "--help_all"}, 0, []string{"--algorithm", "espalier train --input", "--memory_objects"}},
		{[]string{"completion", "bash"}, 0, []string{"complete"}},
		{[]string{"help", "show"}, 0, []string{"Show a tree", "--model", "--row"}},
		{[]string{"help", "money"}, 0, []string{"# Costs: prices of tests"}},
		{[]string{"help", "trian"}, 2, []string{`did you mean "train"?`}},
		{[]string{"trian"}, 2, []string{`did you mean "train"?`}},
		{[]string{"train", "--lamda", "3"}, 2, []string{"did you mean --lambda?"}},
		{[]string{"train", "--lambda", "three"}, 2, []string{"lambda", "three"}},
		{[]string{"train", "a.parquet", "b.parquet"}, 2, []string{"in quotes"}},
		{[]string{"train", "--preset", "papers"}, 2, []string{"default, accurate or paper"}},
		{[]string{"train"}, 2, []string{"--input", "--label", "--output"}},
		{[]string{"train", "--config", misspelled}, 2, []string{`did you mean "lambda"?`}},
		{[]string{"train", "--lambda", "NaN"}, 2, []string{"--lambda NaN", "want a number"}},
		{[]string{"train", "--theta", "-Inf"}, 2, []string{"--theta -Inf", "want a number"}},
		{[]string{"train", "--config", endless}, 2, []string{"--lambda .inf: want a number", "line 1 of ", "endless.yaml"}},
		{[]string{"train", "--config", "nowhere.yaml"}, 2, []string{"nowhere.yaml"}},
		{
			[]string{"train", "--input", input, "--label", "class", "--output", "x", "--runner", "samza"},
			2,
			[]string{"direct", "flink"},
		},
		{
			[]string{"train", "--input", input, "--label", "class", "--output", "x", "--progress", "loud"},
			2,
			[]string{"auto, bar, plain or none"},
		},
		{[]string{"train", "--input", "gs3://bucket/x", "--label", "class", "--output", "x"}, 2, []string{"unknown scheme"}},
		{[]string{"show"}, 2, []string{"--model is required"}},
		{[]string{"show", "nowhere"}, 2, []string{"nowhere"}},
		{[]string{"show", input}, 2, []string{"tree.json"}},
		{[]string{"show", billedModel, "--format", "png"}, 2, []string{"--format png", "svg"}},
		{[]string{"show", billedModel, "--node", "99"}, 2, []string{"--node 99: the tree has nodes 0 to "}},
		{[]string{"show", billedModel, "--depth", "-2"}, 2, []string{"--depth -2"}},
		{[]string{"show", billedModel, "--depth", "2", "--format", "rules"}, 2, []string{"--depth 2: a rule has all tests"}},
		{[]string{"show", billedModel, "--row", input}, 2, []string{"--row", "want FILE:N"}},
		{[]string{"show", billedModel, "--row", input + ":-1"}, 2, []string{"want FILE:N"}},
		{[]string{"show", billedModel, "--row", "nowhere.parquet:0"}, 2, []string{"--row", "nowhere.parquet"}},
		{[]string{"show", billedModel, "--row", input + ":100"}, 2, []string{":100: there are rows 0 to 99"}},
		{[]string{"show", billedModel, "--row", input + ":0"}, 3, []string{"the tree needs"}},
		{[]string{"show", billedModel, "--row", input + ":0", "--depth", "1"}, 2, []string{"--row: the text of a row"}},
		{[]string{"show", billedModel, "--overwrite"}, 2, []string{"--overwrite replaces the file of --output"}},
		{[]string{"evaluate", "--model", "nowhere", "--input", input}, 2, []string{"nowhere"}},
	}
}

func TestCommandLine(t *testing.T) {
	input := mixed(t, 100, parquetio.WriteOptions{})
	yaml := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(yaml, []byte("lamda: 3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	endless := filepath.Join(t.TempDir(), "endless.yaml")
	if err := os.WriteFile(endless, []byte("lambda: .inf\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range commandLines(input, yaml, endless) {
		o := espalier(t, c.args...)
		if c.code != 0 {
			o.wants(t, c.code, c.words...)
			continue
		}
		o.wants(t, 0)
		for _, word := range c.words {
			if !strings.Contains(o.stdout, word) {
				t.Errorf("%v: stdout lacks %q:\n%s", c.args, word, o.stdout)
			}
		}
	}
}

// TestWorkerStart: started by flags alone, as Beam's boot does, the binary is a
// worker and does not look for verbs: it tries to reach its runner
// until it is killed.
func TestWorkerStart(t *testing.T) {
	longtest.Skip(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, "--worker=true", "--id=1", "--logging_endpoint=localhost:1",
		"--control_endpoint=localhost:1", "--semi_persist_dir="+t.TempDir()).CombinedOutput()
	if err == nil || ctx.Err() == nil || strings.Contains(string(out), "espalier: ") {
		t.Errorf("%v, %q: want a worker that waits for its runner", err, out)
	}
}

func TestProgress(t *testing.T) {
	input := mixed(t, 600, parquetio.WriteOptions{})
	for kind, want := range map[string]string{"plain": "summarise: 1 row group,", "bar": "coalesce", "none": ""} {
		o, _ := train(t, input, "--progress", kind, "--select", "first")
		if o.code != 0 || !strings.Contains(o.stderr, want) || kind == "none" && o.stderr != "" {
			t.Errorf("--progress %s: exit code %d, stderr %q", kind, o.code, o.stderr)
		}
	}
}

func TestOverwrite(t *testing.T) {
	input := mixed(t, 100, parquetio.WriteOptions{})
	o, output := train(t, input)
	o.wants(t, 0)
	again := []string{"train", "--input", input, "--label", "class", "--output", output, "--progress", "none"}
	espalier(t, again...).wants(t, 2, "--overwrite")
	espalier(t, append(again, "--overwrite")...).wants(t, 0)
}

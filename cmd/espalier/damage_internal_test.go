package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/train"
)

var (
	damageOnly  = flag.String("damage", "", "TestDamagedDocuments: the document and verb to mutate for, a regular expression of DOCUMENT/VERB")
	damageCases = flag.Int("damage_cases", 0, "TestDamagedDocuments: mutations for each verb; 0: 2, or 20 with -tags long")
	damageFrom  = flag.Int("damage_from", 0, "TestDamagedDocuments: number of the first mutation")
	damageKeep  = flag.String("damage_keep", "", "TestDamagedDocuments: folder for the documents that fail")
)

// damage is the folder of TestDamagedDocuments: data, runs, and what a document may not reach.
type damage struct {
	t    *testing.T
	root string
}

func (d *damage) path(elem ...string) string {
	return filepath.Join(append([]string{d.root}, elem...)...)
}

// do runs a command line in this process.
func (d *damage) do(args ...string) (code int, stdout, stderr string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var out, err bytes.Buffer
	code = start(ctx, args, &out, &err)
	if ctx.Err() != nil {
		code = hangs
	}
	return code, out.String(), err.String()
}

// hangs is the exit code of a command that had to be interrupted.
const hangs = 130

func (d *damage) must(args ...string) {
	d.t.Helper()
	if code, out, err := d.do(args...); code != 0 {
		d.t.Fatalf("%v: exit code %d\n%s%s", args, code, out, err)
	}
}

// outcomes of the verbs that a document may lead to: success, usage, data, gate.
var decent = []int{0, 2, 3, 4}

// newDamage trains runs, with a checkpoint, and a destination of retraining.
func newDamage(t *testing.T) *damage {
	t.Helper()
	d := &damage{t, t.TempDir()}
	random := rand.New(rand.NewPCG(1, 2))
	const n = 300
	x, y, s, flags, class := make([]*float64, n), make([]int64, n), make([]*string, n), make([]bool, n), make([]string, n)
	for i := range n {
		v, text := random.Float64()*40, string('a'+rune(random.IntN(4)))
		x[i], s[i] = &v, &text
		y[i], flags[i] = int64(random.IntN(30)), random.IntN(2) == 0
		kind := 0
		if v > 25 {
			kind++
		}
		if y[i] > 12 && text > "b" {
			kind++
		}
		if random.IntN(10) == 0 {
			kind = random.IntN(3)
		}
		class[i] = []string{"low", "mid", "high"}[kind]
		if random.IntN(15) == 0 {
			x[i] = nil
		}
		if random.IntN(15) == 0 {
			s[i] = nil
		}
	}
	for _, name := range []string{"data/2026-11-01.parquet", "data/2026-11-02.parquet"} {
		err := parquetio.Write(t.Context(), objectstore.New(), d.path(name), []parquetio.WriteColumn{
			{Name: "x", Values: x},
			{Name: "y", Values: y},
			{Name: "s", Values: s},
			{Name: "flag", Values: flags},
			{Name: "class", Values: class},
		}, parquetio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{
		"victim/thesis": "precious", "victim/scratch/a": "precious", "victim/tree.json": "{}", "victim/frontier/000.json": "{}",
		"errors.csv": "actual,predicted,cost\nlow,mid,2\nlow,high,5\nmid,low,1\nmid,high,2\nhigh,low,9\nhigh,mid,3\n",
		"retrain.yaml": fmt.Sprintf("input: %s\nlabel: class\ndestination: %s\nselect: first\nalgorithm: c45\n"+
			"report: none\ncertificate: none\nkeep_runs: 2\nmax_depth: 2\n",
			d.path("data", "{date-1..date}.parquet"), d.path("models")),
	} {
		if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.path(name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d.must("train", "--input", d.path("data", "2026-11-01.parquet"), "--label", "class", "--output", d.path("rich"), "--progress", "none",
		"--algorithm", "c45", "--error_costs", d.path("errors.csv"), "--slice", "flag", "--folds", "2", "--max_depth", "4",
		"--leaf_model", "linear", "--split", "60/20/20")
	d.must("train", "--input", d.path("data", "2026-11-01.parquet"), "--label", "class", "--output", d.path("plain"), "--progress",
		"none", "--algorithm", "c45", "--tests", "both", "--max_depth", "4", "--leaf_model", "none", "--split", "60/20/20")
	d.must("retrain", "--config", d.path("retrain.yaml"), "--date", "2026-11-02", "--progress", "none")
	if err := d.checkpoint(); err != nil {
		t.Fatal(err)
	}
	return d
}

// interrupting is a reporter that ends a run when its first level begins.
type interrupting struct {
	engine.Silent

	end func()
}

func (r interrupting) Job(name string, _ int64, _ string) {
	if strings.HasPrefix(name, "level") {
		r.end()
	}
}

// checkpoint leaves an unfinished run.
func (d *damage) checkpoint() error {
	c := config.DefaultTrain()
	c.Input, c.Label, c.Output = []string{d.path("data", "2026-11-01.parquet")}, "class", d.path("unfinished")
	c.Algorithm, c.Select, c.Certificate, c.Report, c.MemoryObjects = []split.Algorithm{split.C45}, frontier.First, false, "none", 20
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	if _, err := train.Train(ctx, c, interrupting{end: cancel}); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the run was not interrupted: %w", err)
	}
	return nil
}

// target is a document with the verbs that read it.
type target struct {
	name   string // of the document
	run    string // the folder that is copied for each verb, and that the verb sees as "r"
	file   string // below the folder
	verbs  []string
	writes bool // each mutation gets a fresh copy of the folder
}

// verbs are the command lines by name. "r" is the damaged folder, "base" a good run.
func (d *damage) verbs() map[string][]string {
	rows := d.path("data", "2026-11-01.parquet")
	quick := []string{"--progress", "none"}
	with := func(args ...string) []string { return append(args, quick...) }
	training := func(args ...string) []string {
		return append(with("train", "--input", rows, "--label", "class", "--algorithm", "c45", "--select", "first", "--certificate",
			"none", "--report", "none"), args...)
	}
	verbs := map[string][]string{
		"show": {"show", "r"}, "show_rules": {"show", "r", "--format", "rules"}, "show_svg": {"show", "r", "--format", "svg"},
		"show_row":    {"show", "r", "--row", rows + ":17"},
		"predict":     with("predict", "--model", "r", "--input", rows, "--output", "out", "--overwrite", "--explain"),
		"evaluate":    with("evaluate", "--model", "r", "--input", rows),
		"report":      {"report", "r", "--output", "out.html", "--overwrite"},
		"report_own":  {"report", "r", "--overwrite"},
		"card":        {"report", "r", "--format", "markdown", "--output", "out.md", "--overwrite"},
		"ask":         {"ask", "r", "--json", "--value", "x=20", "--value", "y=14", "--value", "s=c"},
		"compare":     with("evaluate", "r", "--against", "base", "--input", rows),
		"frontier":    {"frontier", "r"},
		"promote":     {"frontier", "r", "--promote", "1", "--output", "out", "--overwrite"},
		"rule":        {"frontier", "r", "--max_leaves", "3", "--output", "out", "--overwrite"},
		"rule_dry":    {"frontier", "r", "--max_leaves", "3", "--dry_run"},
		"drift":       with("drift", "--model", "r", "--input", rows),
		"drift_runs":  with("drift", "--model", "r", "--against", "base"),
		"plot":        {"show", "r", "--picture", "frontier", "--output", "out.svg", "--overwrite"},
		"plot_tree":   {"show", "r", "--format", "svg", "--output", "out.svg", "--overwrite"},
		"plot_roc":    {"show", "r", "--picture", "roc", "--output", "out.svg", "--overwrite"},
		"plot_calib":  {"show", "r", "--picture", "calibration", "--output", "out.svg", "--overwrite"},
		"plot_import": {"show", "r", "--picture", "importance", "--output", "out.svg", "--overwrite"},
		"cuts":        training("--cuts_from", "r", "--output", "out", "--overwrite"),
		"refit":       append(with("train", "--input", rows, "--label", "class", "--report", "none"), "--refit", "r", "--output", "out", "--overwrite"),
		"over":        training("--output", "r", "--overwrite"),
		"resume": with("train", "--input", rows, "--label", "class", "--algorithm", "c45", "--select", "first", "--certificate",
			"none", "--report", "none", "--memory_objects", "20", "--output", "r", "--resume"),
		"restart": with("train", "--input", rows, "--label", "class", "--algorithm", "c45", "--select", "first", "--certificate",
			"none", "--report", "none", "--memory_objects", "20", "--output", "r", "--overwrite"),
		"previous":       {"report", "base", "--previous", "r", "--output", "out.html", "--overwrite"},
		"latest_show":    {"show", "r/LATEST.json"},
		"latest_predict": with("predict", "--model", "r/LATEST.json", "--input", rows, "--output", "out", "--overwrite"),
		"retrain": with("retrain", "--config", d.path("retrain.yaml"), "--date", "2026-11-02", "--destination", "r",
			"--mode", "train", "--min_rows", "2"),
		"history": {"retrain", "--config", d.path("retrain.yaml"), "--destination", "r", "--history"},
	}
	for _, format := range []string{"c", "java", "python", "javascript", "pmml", "onnx", "json"} {
		verbs["export_"+format] = []string{"export", "r", "--format", format, "--output", "out." + format, "--overwrite"}
	}
	for _, dialect := range []string{"postgresql", "sqlite", "duckdb", "spark", "bigquery"} {
		verbs["export_"+dialect] = []string{"export", "r", "--format", "sql", "--dialect", dialect, "--output", "out.sql", "--overwrite"}
	}
	return verbs
}

// forged is the name of a state.json whose digest matches a mutation.
const forged = "forged"

// targets lists the documents.
func (d *damage) targets() []target {
	tree := []string{
		"show", "show_rules", "show_svg", "show_row", "predict", "evaluate", "ask", "compare", "plot_tree",
		"export_c", "export_java", "export_python", "export_javascript", "export_postgresql", "export_duckdb", "export_sqlite",
		"export_spark", "export_bigquery", "export_pmml", "export_onnx", "export_json", "report", "card", "refit", "drift",
	}
	pages := []string{"report", "card", "previous", "plot", "plot_roc", "plot_calib"}
	chosen := []string{"frontier", "promote", "rule", "rule_dry", "report", "card", "plot", "previous"}
	var list []target
	for _, run := range []string{"rich", "plain"} {
		list = append(list,
			target{"tree." + run, run, "tree.json", tree, false},
			target{"metrics." + run, run, "metrics.json", pages, false},
			target{"importance." + run, run, "importance.json", []string{"report", "card", "previous", "plot_import"}, false},
			target{"frontier." + run, run, "frontier.json", chosen, true},
			target{"point." + run, run, "frontier/000.json", append(slices.Clone(chosen), "promote0"), true},
			target{"grown." + run, run, "frontier/grown.bin", []string{"promote", "rule", "rule_dry"}, true},
			target{"distribution." + run, run, "distribution.json", []string{"drift", "drift_runs", "promote", "rule"}, true},
			target{"schema." + run, run, "schema.json", []string{"drift", "drift_runs", "cuts", "report", "card"}, false},
			target{"manifest." + run, run, "manifest.json", append(slices.Clone(chosen), "over", "cuts", "refit", "report_own"), true},
		)
	}
	return append(list,
		target{"state", "unfinished", "checkpoints/state.json", []string{"resume", "restart"}, true},
		target{forged, "unfinished", "checkpoints/state.json", []string{"resume"}, true},
		target{"block", "unfinished", "checkpoints/*/*", []string{"resume"}, true},
		target{"latest", "models", "LATEST.json", []string{"latest_show", "latest_predict", "retrain", "history"}, true},
		target{"attempt", "models", "history/*.json", []string{"retrain", "history"}, true},
	)
}

// finding is what a verb did wrong, with the first case.
type finding struct {
	what string
	n    int
}

// TestDamagedDocuments mutates each document of runs, and lets each verb that reads it run in this process: no
// verb panics, hangs, needs much memory, prints NaN or escape sequences, or touches a file outside.
func TestDamagedDocuments(t *testing.T) {
	longtest.Skip(t)
	cases := *damageCases
	if cases == 0 {
		cases = 2
		if longtest.Enabled() {
			cases = 20
		}
	}
	d := newDamage(t)
	t.Chdir(d.root)
	only := regexp.MustCompile(*damageOnly)
	if cases < 10 && *damageOnly == "" {
		only = regexp.MustCompile(`plain|^[a-z]+/`)
	}
	verbs := d.verbs()
	verbs["promote0"] = []string{"frontier", "r", "--promote", "0", "--output", "out", "--overwrite"}
	for _, target := range d.targets() {
		for _, verb := range target.verbs {
			if only.MatchString(target.name + "/" + verb) {
				t.Run(target.name+"/"+verb, func(t *testing.T) {
					d.t = t
					d.mutated(&target, verb, verbs[verb], cases)
				})
			}
		}
	}
}

// mutated runs a verb on mutations of a document.
func (d *damage) mutated(to *target, verb string, args []string, cases int) {
	t := d.t
	files, err := filepath.Glob(d.path(to.run, to.file))
	files = slices.DeleteFunc(files, func(name string) bool { info, err := os.Stat(name); return err != nil || info.IsDir() })
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s: %v", to.file, err)
	}
	hash := fnv.New64()
	_, _ = hash.Write([]byte(to.name + "/" + verb))
	found, codes := make(map[string]*finding), make(map[int]int)
	started := time.Now()
	n, around := 0, d.digest(".")
	for i := *damageFrom; i < *damageFrom+cases; i++ {
		m := &mutator{rand.New(rand.NewPCG(hash.Sum64(), uint64(i))), []string{
			"../../victim", "../victim", "../victim/thesis", d.path("victim"), "link/thesis", "link", "/etc/passwd", "../../../victim/scratch",
			"../victim/tree.json", "../victim/frontier/000.json", "file://" + d.path("victim"), ".", "..",
		}}
		if i == *damageFrom || to.writes {
			d.copyRun(to.run)
		}
		file := files[m.IntN(len(files))]
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := good
		if i > 0 { // the first one shows that the verb works
			if bad = m.mutate(good); to.name == forged {
				bad = m.forge(good)
			}
		}
		name := "r" + strings.TrimPrefix(file, d.path(to.run))
		if err := os.WriteFile(name, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		before, used := d.digest("victim"), allocated()
		code, stdout, stderr := d.do(args...)
		n++
		codes[code]++
		what := ""
		last := stderr[strings.LastIndexByte(strings.TrimSpace(stderr), '\n')+1:]
		switch {
		case i == 0 && code != 0 && to.name+verb != "tree.richexport_pmml": // PMML has no leaf models with error costs
			what = "fails on a good document: " + last
		case !slices.Contains(decent, code):
			what = fmt.Sprintf("exit code %d: %s", code, last)
		case d.digest("victim") != before:
			what = "touches a file outside"
		case allocated()-used > 1<<29:
			what = "takes much memory"
		case strings.ContainsAny(stdout+stderr, "\x1b\x07\u202e"):
			what = "prints control characters"
		case strings.Contains(stdout, "NaN") && !strings.HasPrefix(verb, "export") && !bytes.Contains(bad, []byte(`"NaN"`)):
			what = "prints NaN"
		default:
			continue
		}
		key := digits.ReplaceAllString(what, "0")
		if found[key] == nil {
			found[key] = &finding{what: fmt.Sprintf("case %d: %s", i, what)}
			if *damageKeep != "" {
				kept := filepath.Join(*damageKeep, fmt.Sprintf("%s-%s-%d", to.name, verb, i))
				_ = os.WriteFile(kept, bad, 0o666) // for people alone
			}
		}
		found[key].n++
	}
	if d.digest(".") != around {
		t.Error("a file outside was touched")
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("%d times, %s", found[key].n, found[key].what)
	}
	t.Logf("%d mutations, exit codes %v, %v each", n, codes, time.Since(started)/time.Duration(max(1, n)))
}

var digits = regexp.MustCompile(`[0-9]+|"[^"]*"`)

// allocated returns the bytes that this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// copyRun makes the folder "r" a copy of a run, with a link that leads out of it.
func (d *damage) copyRun(run string) {
	for _, name := range []string{"r", "out", "base"} {
		if err := os.RemoveAll(d.path(name)); err != nil {
			d.t.Fatal(err)
		}
	}
	err := errors.Join(os.CopyFS(d.path("r"), os.DirFS(d.path(run))), os.CopyFS(d.path("base"), os.DirFS(d.path("plain"))),
		os.Symlink("../victim", d.path("r", "link")))
	if err != nil {
		d.t.Fatal(err)
	}
}

// digest describes all files of a folder except "r", "base" and the outputs.
func (d *damage) digest(folder string) string {
	var b strings.Builder
	err := filepath.WalkDir(d.path(folder), func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(d.root, path)
		if err != nil || name == "r" || name == "base" || strings.HasPrefix(name, "out") {
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		b.WriteString(name)
		if !e.IsDir() {
			b.WriteString(strconv.FormatInt(info.Size(), 10))
			b.WriteString(info.ModTime().Format(time.RFC3339Nano))
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return b.String()
}

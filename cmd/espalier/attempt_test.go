package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
)

// night is a night whose YAML file has the settings of retrain and of predict.
type night struct {
	*nightly

	figures, notices string // files
}

func newNight(t *testing.T, below *nightly) *night {
	t.Helper()
	n := &night{nightly: below}
	n.figures = filepath.Join(t.TempDir(), "espalier")
	n.notices = filepath.Join(t.TempDir(), "notices.jsonl")
	n.set(t, string(read(t, n.config))+"open_metrics: "+n.figures+"-retrain.prom\nnotices: "+n.notices+`
predict:
  # of the day
  input: `+n.url+`/days/{date}.parquet
  output: `+n.url+`/scored/dt={date}
  key: [shop]
  min_rows: 1000
  overwrite: true

  progress: none
  open_metrics: '`+n.figures+`-predict.prom'
  notices: `+n.notices+"\n")
	return n
}

// set writes the YAML file.
func (n *night) set(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wants runs a verb, and checks its exit code, its figures, and its line in the notices.
func (n *night) wants(t *testing.T, verb string, code int, outcome string, flags ...string) {
	t.Helper()
	before := strings.Count(n.lines(t), "\n")
	file := []string{verb, "--config", n.config}
	if before%2 == 1 { // as an argument
		file = []string{verb, n.config}
	}
	o := espalier(t, append(file, flags...)...)
	if o.code != code {
		t.Errorf("%s %v: exit code %d, want %d: %s", verb, flags, o.code, code, o.stderr)
	}
	success := "_success 0\n"
	if code == 0 {
		success = "_success 1\n"
	}
	told := string(read(t, n.figures+"-"+verb+".prom"))
	if !strings.Contains(told, `{outcome="`+outcome+"\"} 1\n") || !strings.Contains(told, "espalier_"+verb+success) {
		t.Errorf("%s %v: want the outcome %s and %s, got\n%s", verb, flags, outcome, success, told)
	}
	lines := strings.Split(strings.TrimSpace(n.lines(t)), "\n")
	var last map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != before+1 {
		t.Fatalf("%d notices after %d, %v", len(lines), before, err)
	}
	if last["verb"] != verb || last["outcome"] != outcome || last["exit_code"] != float64(code) || last["day"] != dateOf(t, 0) ||
		code != 0 && last["reason"] == nil {
		t.Errorf("%s %v: the notice is %v", verb, flags, last)
	}
}

func (n *night) lines(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(n.notices)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// TestNight trains and scores a day by a single YAML file: figures and notices have the outcome, however early an
// attempt ends.
func TestNight(t *testing.T) {
	n, day := newNight(t, newNightly(t, "file")), []string{"--date", dateOf(t, 0)}
	good := string(read(t, n.config))
	n.wants(t, "predict", 3, "failed", day...) // no rows yet
	n.wants(t, "retrain", 3, "failed", day...)
	n.write(t, 0, false)
	n.wants(t, "retrain", 0, "promoted", day...)
	n.wants(t, "predict", 0, "published", day...)
	told := string(read(t, n.figures+"-predict.prom"))
	for _, want := range []string{
		"espalier_predict_rows 1500\n", "espalier_predict_unseen_share 0.00", `espalier_predict_class_share{class="true"} 0.`,
		"espalier_predict_cost ", "espalier_predict_day_timestamp_seconds 1.7934912e+09\n", // date -d 2026-11-01Z +%s
		`espalier_predict_probability{class="false"} 0.`,
	} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	n.wants(t, "predict", 0, "published", day...) // nothing to do
	if n.published(t, "scored/dt="+dateOf(t, 0)) != n.digestInUse(t) {
		t.Error("the predictions are by another tree than the tree in use")
	}
	n.wants(t, "predict", 3, "failed", append(day, "--min_rows", "2000")...)
	n.wants(t, "predict", 2, "failed", append(day, "--nothing")...)
	n.wants(t, "retrain", 2, "failed", append(day, "--nothing")...)
	n.wants(t, "retrain", 4, "refused", append(day, "--min_auc", "0.999")...)

	n.set(t, strings.Replace(good, "min_rows", "min_row", 1))
	n.wants(t, "retrain", 0, "promoted", day...)
	n.wants(t, "predict", 2, "failed", day...)
	wantsSaid(t, espalier(t, "predict", "--config", n.config), `unknown key "min_row"; did you mean "min_rows"?`)
	n.set(t, strings.Replace(good, "min_rows: 1000", "min_rows: many", 1))
	n.wants(t, "predict", 2, "failed", day...)
	n.set(t, strings.Replace(good, "predict:", "predct:", 1))
	n.wants(t, "retrain", 2, "failed", day...)
	wantsSaid(t, espalier(t, "predict", "--config", n.config), `no key "predict" with the settings of predict; did you mean "predct"?`)
	n.set(t, strings.Replace(good, "destination:", "destinatio:", 1))
	n.wants(t, "predict", 2, "failed", day...)
	wantsSaid(t, espalier(t, "predict", "--config", n.config), `unknown key "destinatio"; did you mean "destination"?`)
	n.set(t, good+"  label: [\n")
	n.wants(t, "predict", 2, "failed", day...)
	n.wants(t, "retrain", 2, "failed", day...)
	n.set(t, good)
	wantsSaid(t, espalier(t, "predict", "--config", n.config, "--notices", "gs://bucket/notices"), "--notices")
	folder := t.TempDir()
	o := espalier(t, "predict", "--config", n.config, "--notices", folder)
	if wantsSaid(t, o, "is no regular file"); strings.Count(o.stderr, folder) != 1 {
		t.Errorf("not said once: %s", o.stderr)
	}
	wantsSaid(t, espalier(t, "predict", "--config", n.config, "--input", "nowhere://user:PLANTEDSECRET@host/x"), "***")
	if strings.Contains(string(read(t, n.notices)), "PLANTEDSECRET") {
		t.Error("a notice has a password")
	}
	validateLines(t, n.notices)
}

// wantsSaid checks that a command line is refused with a text.
func wantsSaid(t *testing.T, o outcome, text string) {
	t.Helper()
	if o.code != 2 || !strings.Contains(o.stderr, text) {
		t.Errorf("exit code %d, %q; want %q", o.code, o.stderr, text)
	}
}

// validateLines checks the lines of a file by the schema of notices.
func validateLines(t *testing.T, file string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(string(read(t, file))), "\n") {
		one := filepath.Join(t.TempDir(), "notice.json")
		if err := os.WriteFile(one, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		validate(t, "notice", one)
	}
}

// TestNightKilled kills attempts in the middle of their work: their figures have no success, and the next attempts
// end the day.
func TestNightKilled(t *testing.T) {
	longtest.Skip(t)
	c, below := nightlyOnS3(t)
	n := newNight(t, below)
	n.write(t, 0, false)
	for _, k := range []struct{ verb, outcome, path string }{{"retrain", "promoted", "/tree.json"}, {"predict", "published", "/scored/"}} {
		attempt := exec.CommandContext(t.Context(), binary, k.verb, "--config", n.config, "--date", dateOf(t, 0))
		c.Inject(objectstoretest.Fault{
			Kinds: []objectstoretest.Kind{objectstoretest.Write},
			Match: func(r *http.Request) bool { return strings.Contains(r.URL.Path, k.path) },
			Effect: func(http.ResponseWriter, *http.Request, http.Handler, <-chan struct{}) {
				_ = attempt.Process.Kill() // the exit code tells
				panic(http.ErrAbortHandler)
			},
		})
		if err := attempt.Run(); err == nil || attempt.ProcessState.ExitCode() >= 0 {
			t.Fatalf("%s was not killed: %v", k.verb, attempt.ProcessState)
		}
		c.Clear()
		told := string(read(t, n.figures+"-"+k.verb+".prom"))
		if !strings.Contains(told, `{outcome="running"} 1`) || !strings.Contains(told, "espalier_"+k.verb+"_success 0\n") {
			t.Errorf("%s: after the kill\n%s", k.verb, told)
		}
		n.wants(t, k.verb, 0, k.outcome, "--date", dateOf(t, 0))
	}
}

package main_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// event is a line of a log.
type event struct {
	Time  time.Time
	Level string
	Msg   string
	Verb  string
	Run   string

	Phase       string
	Done, Total int64
	Unit        string

	Outcome  string
	Repeated bool
	Rows     int64
	AUC      float64
	Missing  []string
	Refusals []string

	Seconds  float64
	ExitCode *int `json:"exit_code"`
}

// eventsIn returns the events of a log; each line must be one.
func eventsIn(t *testing.T, stderr string) []event {
	t.Helper()
	var list []event
	for line := range strings.Lines(stderr) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if e.Time.IsZero() || e.Level == "" || e.Msg == "" || e.Verb == "" {
			t.Errorf("an event without time, level, msg or verb: %q", line)
		}
		list = append(list, e)
	}
	if len(list) == 0 {
		t.Fatal("no event")
	}
	return list
}

// ends reports whether the last event has an exit code and a text.
func ends(list []event, code int, text string) bool {
	last := &list[len(list)-1]
	return last.ExitCode != nil && *last.ExitCode == code && strings.Contains(last.Msg, text) && last.Seconds > 0
}

// TestLogJSON: all lines of a log are events, including phases, warnings, the end and a failure.
func TestLogJSON(t *testing.T) {
	input, run := mixed(t, 3000, parquetio.WriteOptions{}), filepath.Join(t.TempDir(), "run")
	args := append([]string{"train", "--input", input, "--label", "class", "--output", run, "--log_format", "json", "--progress", "bar"}, fewTrees()...)
	o := espalier(t, args...)
	if o.code != 0 || !strings.Contains(o.stdout, run) {
		t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	list := eventsIn(t, o.stderr)
	if last := list[len(list)-1]; !ends(list, 0, "done") || last.Run != run || last.Verb != "train" {
		t.Errorf("the last event is %+v", last)
	}
	phase := slices.IndexFunc(list, func(e event) bool { return e.Phase == "summarise" })
	if phase < 0 || list[phase].Msg != "phase" || list[phase].Unit != "row groups" || list[phase].Run != run ||
		list[phase].Done != list[phase].Total || list[phase].Total == 0 {
		t.Errorf("no event of the phase summarise: %+v", list)
	}
	o = espalier(t, args...) // the run is there
	if list = eventsIn(t, o.stderr); o.code != 2 || !ends(list, 2, "--overwrite") || list[len(list)-1].Level != "ERROR" {
		t.Errorf("exit code %d, %+v", o.code, list)
	}
	o = espalier(t, "predict", "--model", run, "--input", input, "--output", filepath.Join(t.TempDir(), "scored"), "--log_format",
		"json", "--progress", "none")
	if list = eventsIn(t, o.stderr); o.code != 0 || len(list) != 2 || list[0].Level != "WARN" || !ends(list, 0, "done") {
		t.Errorf("--progress none: exit code %d, %+v", o.code, list)
	}
	if o = espalier(t, "drift", "--model", run, "--input", input, "--log_format", "xml"); o.code != 2 || !strings.Contains(o.stderr, "--log_format") {
		t.Errorf("--log_format xml: exit code %d, %q", o.code, o.stderr)
	}
}

// TestLogRetrain: the log of a retraining tells what the attempt has come to, also as a key of its YAML file.
func TestLogRetrain(t *testing.T) {
	n := newNightly(t, "file")
	n.write(t, 0, false)
	for _, want := range []struct {
		outcome  string
		code     int
		repeated bool
		refusals int
		more     []string
	}{{"promoted", 0, false, 0, nil}, {"promoted", 0, true, 0, nil}, {"refused", 4, false, 1, []string{"--min_auc", "0.999"}}} {
		o := n.retrain(t, 0, append(want.more, "--log_format", "json")...)
		list := eventsIn(t, o.stderr)
		at := slices.IndexFunc(list, func(e event) bool { return e.Msg == "attempt" })
		if at < 0 || o.code != want.code || !ends(list, want.code, "") || list[at].Outcome != want.outcome ||
			list[at].Repeated != want.repeated || list[at].Rows < dayRows/2 || !strings.HasPrefix(list[at].Run, "runs/") ||
			list[at].AUC < 0.5 || len(list[at].Missing) != 4 || len(list[at].Refusals) != want.refusals {
			t.Errorf("exit code %d, want %d and an attempt that is %s: %v", o.code, want.code, want.outcome, list)
		}
	}
}

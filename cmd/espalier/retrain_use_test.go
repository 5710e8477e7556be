package main_test

import (
	"encoding/json"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// TestUse goes through a night on which a person goes back to an earlier run, holds it, and lets retrain promote
// again. It does so on s3 with -tags long.
func TestUse(t *testing.T) {
	schemes := []string{"file", "gs", "s3"}
	if !longtest.Enabled() {
		schemes = schemes[:2] // TestPredictDays is on s3
	}
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) {
			n := newNightly(t, scheme)
			models := objectstore.Join(n.url, "models")
			use := func(code int, args ...string) outcome {
				t.Helper()
				o := espalier(t, append([]string{"retrain", "use", models}, args...)...)
				o.wants(t, code)
				return o
			}
			use(2, "previous")
			for day := range 3 {
				n.write(t, day, false)
				n.retrain(t, day).wants(t, 0)
			}
			bad := n.inUse(t)
			use(2, "2025-01-01")
			use(2, "nothing")
			use(2, "--hold", "soon")
			wantsPrinted(t, use(0, "previous", "--dry_run"), "would be in use, instead of "+bad)
			if now := n.inUse(t); now != bad {
				t.Fatalf("a dry run puts %s in use", now)
			}

			wantsPrinted(t, use(0, "previous", "--reason", "bad labels", "--hold", "forever"), "is in use, instead of "+bad)
			good := n.inUse(t)
			if !strings.Contains(good, dateOf(t, 1)) {
				t.Fatalf("the run before is %s", good)
			}
			n.retrain(t, 2).wants(t, 0) // the same night again does not bring the bad tree back
			n.write(t, 3, false)
			o := n.retrain(t, 3)
			o.wants(t, 0)
			if now := n.inUse(t); now != good || !strings.Contains(o.stderr, "held in use (bad labels)") {
				t.Errorf("%s is in use though %s is held; stderr:\n%s", now, good, o.stderr)
			}
			attempts := n.attempts(t)
			if last := attempts[len(attempts)-1]; last.Outcome != retraining.Held {
				t.Errorf("the outcome is %q", last.Outcome)
			}
			n.retrain(t, 3).wants(t, 0)
			if now := len(n.attempts(t)); now != len(attempts) {
				t.Errorf("the same day again is attempt %d of a held run, want none", now)
			}
			wantsPrinted(t, use(0), path.Base(bad), path.Base(good), "* in use, held until forever: bad labels")
			wantsPrinted(t, espalier(t, "retrain", "--config", n.config, "--history"), path.Base(bad), n.digest(t)[:8], "held",
				"* in use; put in use instead of "+path.Base(bad)+": bad labels; held until forever")

			use(0, "--hold", "forever", "--reason", "labels are checked")
			use(0, "--hold", "none")
			history := espalier(t, "retrain", "--config", n.config, "--history")
			wantsPrinted(t, history, "held until forever: labels are checked", "* in use; not held")
			if strings.Contains(history.stdout, "instead of "+path.Base(good)) {
				t.Errorf("a hold is a change of the run in use:\n%s", history.stdout)
			}
			n.retrain(t, 3).wants(t, 0)
			if now := n.inUse(t); !strings.Contains(now, dateOf(t, 3)) {
				t.Errorf("after the hold %s is in use", now)
			}
			use(0, dateOf(t, 1), "--hold", time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly))
			if now := n.inUse(t); now != good {
				t.Errorf("by its day %s is put in use", now)
			}
			use(2, path.Base(bad), "--hold", time.Now().UTC().Format(time.DateOnly)) // over already
			use(2, "--hold", "2020-01-01")
			use(0, path.Base(bad))
			n.endHold(t)
			if o := use(0); strings.Contains(o.stdout, "held until") {
				t.Errorf("a hold that is over is listed:\n%s", o.stdout)
			}
			n.write(t, 4, false)
			n.retrain(t, 4).wants(t, 0)
			if now := n.inUse(t); !strings.Contains(now, dateOf(t, 4)) {
				t.Errorf("after a hold that is over, %s is in use", now)
			}
			n.traced(t)
			if scheme == "file" {
				n.validate(t)
			}
		})
	}
}

// TestUseKilled kills the command at many moments: LATEST.json names a complete run at each of them, and the
// command succeeds when it is run again.
func TestUseKilled(t *testing.T) {
	longtest.Skip(t)
	n := newNightly(t, "file")
	models := objectstore.Join(n.url, "models")
	for day := range 2 {
		n.write(t, day, false)
		n.retrain(t, day).wants(t, 0)
	}
	start := time.Now()
	espalier(t, "retrain", "use", models, "previous").wants(t, 0)
	took := time.Since(start)
	const moments = 12
	for i := range moments {
		c := exec.CommandContext(t.Context(), binary, "retrain", "use", models, dateOf(t, i%2), "--reason", "killed")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(took*time.Duration(i+1)/moments, func() { _ = c.Process.Kill() })
		_ = c.Wait() // killed, or done
		stop.Stop()
		n.inUse(t)
		espalier(t, "retrain", "use", models, dateOf(t, i%2)).wants(t, 0)
		if p, err := latest.Read(t.Context(), n.store, models); err != nil || !strings.Contains(p.Run, dateOf(t, i%2)) {
			t.Errorf("after the second attempt %+v, %v", p, err)
		}
	}
}

// endHold holds the run in use until a day that is over.
func (n *nightly) endHold(t *testing.T) {
	t.Helper()
	models := objectstore.Join(n.url, "models")
	p, err := latest.Read(t.Context(), n.store, models)
	if err == nil {
		next := *p
		next.Held = "2020-01-01"
		_, err = latest.Promote(t.Context(), n.store, models, next, p)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// digest returns the digest of the tree in use.
func (n *nightly) digest(t *testing.T) string {
	t.Helper()
	p, err := latest.Read(t.Context(), n.store, objectstore.Join(n.url, "models"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Digest
}

// traced scores rows with the run in use. The manifest names the run and its tree.
func (n *nightly) traced(t *testing.T) {
	t.Helper()
	models := objectstore.Join(n.url, "models")
	output := objectstore.Join(n.url, "scored")
	espalier(t, "predict", "--model", objectstore.Join(models, latest.Name), "--input", n.fileOf(t, 0), "--output", output, "--progress",
		"none").wants(t, 0)
	b, err := n.store.ReadAll(t.Context(), objectstore.Join(output, "_manifest.json"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var m runfolder.PredictionsManifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	p, err := latest.Read(t.Context(), n.store, models)
	if err != nil {
		t.Fatal(err)
	}
	if m.Digest != p.Digest || m.Tree != objectstore.Join(models, p.Run, runfolder.TreeName) {
		t.Errorf("the manifest names the tree %s, %s; LATEST.json names %s, %s", m.Tree, m.Digest, p.Run, p.Digest)
	}
	if o := origin(t, output); o.Digest != p.Digest || o.Run != path.Base(p.Run) || o.Training == nil || o.Attempt == nil {
		t.Errorf("the origin of the predictions is %+v", o)
	}
}

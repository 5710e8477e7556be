package main_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// phase is a request by which a phase of an attempt is known.
type phase struct {
	name string
	kind objectstoretest.Kind
	path string // ends or is in the path of the request
	skip int    // such requests before

	moved bool // LATEST.json has moved before the request
	begun bool // the history has the attempt

	decides bool // the next attempt finds another state if the request has reached the store
}

func phases() []phase {
	return []phase{
		{name: "lock", kind: objectstoretest.Write, path: "/models/_LOCK"},
		{name: "history begins", kind: objectstoretest.Write, path: "/history/", decides: true},
		{name: "a run begins", kind: objectstoretest.Write, path: "/runs/", begun: true},
		{name: "input", kind: objectstoretest.Read, path: "/days/"},
		{name: "documents of the run", kind: objectstoretest.Write, path: "/tree.json", begun: true},
		{name: "the run is complete", kind: objectstoretest.Write, path: "/_SUCCESS", begun: true, decides: true},
		{name: "gate", kind: objectstoretest.Read, path: "/metrics.json", begun: true},
		{name: "promotion", kind: objectstoretest.Write, path: "/LATEST.json", begun: true, decides: true},
		{name: "history ends", kind: objectstoretest.Write, path: "/history/", skip: 1, begun: true, moved: true},
		{name: "retention", kind: objectstoretest.Remove, path: "/bucket", begun: true, moved: true, skip: 1},
		{name: "the lock goes", kind: objectstoretest.Remove, path: "/models/_LOCK", begun: true, moved: true},
	}
}

// TestRetrainKilledInPhases kills an attempt before the first request of each phase, and behind it: the request has
// reached the store then, and its answer has not come. LATEST.json names a complete run that has passed the gate, and
// the next attempt ends the day. Without -tags long attempts are only killed behind requests after which the next one
// finds another state.
func TestRetrainKilledInPhases(t *testing.T) {
	longtest.Skip(t)
	want, objects := threeDays(t), twoDays(t)
	for _, p := range phases() {
		for _, behind := range []bool{false, true} {
			if !longtest.Enabled() && (!behind || !p.decides) {
				continue
			}
			name := "before " + p.name
			if behind {
				name = "behind " + p.name
			}
			t.Run(name, func(t *testing.T) { p.try(t, behind, objects, want) })
		}
	}
}

// nightlyOnS3 returns a retraining in an empty bucket, whose URL is always the same.
func nightlyOnS3(t *testing.T) (*cloud, *nightly) {
	t.Helper()
	c := emptyCloud(t, "s3")
	return c, nightlyBelow(t, c.store, "s3://bucket/nightly")
}

// twoDays returns the objects of a bucket by URL: the files of three days, and those of the attempts of two days.
func twoDays(t *testing.T) map[string][]byte {
	t.Helper()
	c, n := nightlyOnS3(t)
	for day := range 3 {
		n.write(t, day, false)
	}
	n.retrain(t, 0).wants(t, 0)
	n.retrain(t, 1).wants(t, 0)
	list, err := c.store.Below(t.Context(), n.url, 9)
	if err != nil {
		t.Fatal(err)
	}
	objects := make(map[string][]byte)
	for _, o := range list {
		if objects[o.URL], err = c.store.ReadAll(t.Context(), o.URL, 1<<24); err != nil {
			t.Fatal(err)
		}
	}
	return objects
}

// threeDays returns the tree of the third day.
func threeDays(t *testing.T) []byte {
	t.Helper()
	n := newNightly(t, "file")
	for day := range 3 {
		n.write(t, day, false)
		n.retrain(t, day).wants(t, 0)
	}
	return n.tree(t)
}

// tree returns the tree in use.
func (n *nightly) tree(t *testing.T) []byte {
	t.Helper()
	b, err := n.store.ReadAll(t.Context(), objectstore.Join(n.url, "models", n.inUse(t), "tree.json"), 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// try kills an attempt of the third day in a phase, after the objects of twoDays. The next attempt has the wanted
// tree.
func (p *phase) try(t *testing.T, behind bool, objects map[string][]byte, want []byte) {
	t.Helper()
	c, n := nightlyOnS3(t)
	for url, b := range objects {
		if err := c.store.Put(t.Context(), url, b, objectstore.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	before, attempts := n.inUse(t), len(n.attempts(t))
	flags := []string{"--keep_runs", "1"}
	attempt := exec.CommandContext(t.Context(), binary,
		append([]string{"retrain", "--config", n.config, "--date", dateOf(t, 2)}, flags...)...)
	c.Inject(objectstoretest.Fault{
		Kinds: []objectstoretest.Kind{p.kind}, Skip: p.skip,
		Match: func(r *http.Request) bool { return strings.Contains(r.URL.Path, p.path) },
		Effect: func(_ http.ResponseWriter, r *http.Request, store http.Handler, _ <-chan struct{}) {
			if behind {
				store.ServeHTTP(httptest.NewRecorder(), r)
			}
			_ = attempt.Process.Kill() // Run tells whether it was
			panic(http.ErrAbortHandler)
		},
	})
	if err := attempt.Run(); err == nil || attempt.ProcessState.ExitCode() >= 0 {
		t.Fatalf("the attempt was not killed: %v", attempt.ProcessState)
	}
	c.Clear()
	moved := p.moved || behind && p.name == "promotion"
	if now := n.inUse(t); moved != (now != before) || moved && !strings.Contains(now, dateOf(t, 2)) {
		t.Errorf("LATEST.json names %s after the kill, and %s before", now, before)
	}
	begun := p.begun || behind && p.name == "history begins"
	if now := len(n.attempts(t)) - attempts; begun != (now == 1) {
		t.Errorf("the history has %d more attempts", now)
	}
	n.retrain(t, 2, flags...).wants(t, 0)
	if !bytes.Equal(n.tree(t), want) {
		t.Error("another tree than that of an attempt that was let alone")
	}
	if now := n.inUse(t); !strings.Contains(now, dateOf(t, 2)) {
		t.Errorf("the next attempt leaves %s in use", now)
	}
	done := slices.ContainsFunc(n.attempts(t), func(a *retraining.Attempt) bool {
		return a.Outcome == retraining.Promoted && a.Date == dateOf(t, 2) && a.Before == before
	})
	if !done {
		t.Errorf("no attempt of the history has promoted the day in place of %s", before)
	}
	left, err := n.store.Below(t.Context(), objectstore.Join(n.url, "models", "runs"), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range left {
		if strings.Contains(o.URL, dateOf(t, 0)) {
			t.Errorf("%s of the oldest run stays", o.URL)
		}
	}
	if again := n.retrain(t, 2, flags...); !strings.Contains(again.stdout, "as before") {
		t.Errorf("again: %s%s", again.stdout, again.stderr)
	}
}

// TestRetrainOvertaken: another program moves LATEST.json between an attempt's gate and its promotion. The attempt moves
// nothing, by the precondition of its write, and the history says so; the next one promotes the run.
func TestRetrainOvertaken(t *testing.T) {
	longtest.Skip(t)
	for _, scheme := range []string{"gs", "s3"} {
		t.Run(scheme, func(t *testing.T) {
			c := emptyCloud(t, scheme)
			n := nightlyBelow(t, c.store, scheme+"://bucket/nightly")
			n.write(t, 0, false)
			n.write(t, 1, false)
			n.retrain(t, 0).wants(t, 0)
			before, models := n.inUse(t), objectstore.Join(n.url, "models")
			stolen := false
			c.Inject(objectstoretest.Fault{
				Kinds: []objectstoretest.Kind{objectstoretest.Write}, Times: 1,
				Match: func(r *http.Request) bool { return strings.Contains(r.URL.String(), latest.Name) },
				Effect: func(w http.ResponseWriter, r *http.Request, store http.Handler, _ <-chan struct{}) {
					p, err := latest.Read(context.WithoutCancel(r.Context()), c.store, models)
					if err == nil {
						_, err = latest.Promote(context.WithoutCancel(r.Context()), c.store, models, latest.Pointer{Run: p.Run, Promoted: time.Now()}, p)
					}
					if stolen = err == nil; !stolen {
						t.Error(err)
					}
					store.ServeHTTP(w, r)
				},
			})
			o := n.retrain(t, 1)
			o.wants(t, 4, "another program has moved")
			if now := n.inUse(t); !stolen || now != before {
				t.Errorf("LATEST.json names %s, want %s; the other program has moved it: %v", now, before, stolen)
			}
			list := n.attempts(t)
			if last := list[len(list)-1]; last.Outcome != retraining.Overtaken {
				t.Errorf("the last attempt is %+v", last)
			}
			n.retrain(t, 1).wants(t, 0)
			if now := n.inUse(t); !strings.Contains(now, dateOf(t, 1)) {
				t.Errorf("the next attempt leaves %s in use", now)
			}
		})
	}
}

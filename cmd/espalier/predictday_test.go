package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// scoring returns the command line that scores a day into a folder below the URL.
func (n *nightly) scoring(t *testing.T, day int, folder string, more ...string) []string {
	t.Helper()
	return append([]string{
		"predict", "--model", objectstore.Join(n.url, "models", latest.Name), "--input", n.url + "/days/{date}.parquet",
		"--output", n.url + "/" + folder + "/{date}", "--date", dateOf(t, day), "--progress", "none",
	}, more...)
}

// predict scores a day.
func (n *nightly) predict(t *testing.T, day int, more ...string) outcome {
	t.Helper()
	return espalier(t, n.scoring(t, day, "scored", more...)...)
}

// published reads a folder of predictions as programs that use them do: it counts only with _SUCCESS. All files
// that its manifest lists are there then, by the same tree, and no others. It returns the digest of the tree; empty
// if the folder does not count.
func (n *nightly) published(t *testing.T, folder string) string {
	t.Helper()
	return n.publishedRows(t, folder, false)
}

// publishedRows is published. With early, the manifest may be by another tree than the only file of rows, which a killed run
// has replaced before.
func (n *nightly) publishedRows(t *testing.T, folder string, early bool) (digest string) {
	t.Helper()
	ctx, url := t.Context(), objectstore.Join(n.url, folder)
	if _, err := n.store.Stat(ctx, objectstore.Join(url, "_SUCCESS")); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	b, err := n.store.ReadAll(ctx, objectstore.Join(url, "_manifest.json"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var m runfolder.PredictionsManifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	list, err := n.store.Below(ctx, url, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows, outputs, digest := int64(0), []string{}, m.Digest
	for _, o := range list {
		name := path.Base(o.URL)
		if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		outputs = append(outputs, name)
		f, err := parquetio.Open(ctx, n.store, o.URL)
		if err != nil {
			t.Fatal(err)
		}
		if of := f.Metadata("espalier.tree_sha256"); of != digest {
			if !early {
				t.Errorf("%s is by the tree %s, and the manifest by %s", o.URL, of, digest)
			}
			digest = of
		}
		rows += f.Rows
	}
	if rows != m.Rows || rows == 0 || !slices.Equal(outputs, m.Outputs) || early && len(outputs) > 1 {
		t.Errorf("%s has %d rows in %v, and the manifest %d in %v", url, rows, outputs, m.Rows, m.Outputs)
	}
	return digest
}

// digestInUse returns the digest of the tree in use.
func (n *nightly) digestInUse(t *testing.T) string {
	t.Helper()
	p, err := latest.Read(t.Context(), n.store, objectstore.Join(n.url, "models"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Digest
}

// TestPredictDays scores days: a day is scored once, and replaced only on demand; late, stale and short input is refused.
// It does so on gs with -tags long.
func TestPredictDays(t *testing.T) {
	longtest.Skip(t)
	schemes := []string{"file", "s3", "gs"}
	if !longtest.Enabled() {
		schemes = schemes[:2] // TestUse is on gs
	}
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) {
			n := newNightly(t, scheme)
			n.write(t, 0, false)
			n.retrain(t, 0).wants(t, 0)
			folder := "scored/" + dateOf(t, 0)
			wantsPrinted(t, n.predict(t, 0), "scored 1500 rows into", folder)
			first := n.published(t, folder)
			if first != n.digestInUse(t) {
				t.Errorf("predictions by %s, want the tree in use", first)
			}
			wantsPrinted(t, n.predict(t, 0), "nothing to do")
			wantsPrinted(t, n.predict(t, 0, "--overwrite"), "nothing to do")
			if scheme == "file" {
				validate(t, "predictions", filepath.Join(n.url, folder, "_manifest.json"))
			}
			n.predict(t, 1).wants(t, 3, "no file with rows is there")
			stale := n.scoring(t, 2, "scored", "--max_lag", "1")
			stale[slices.Index(stale, "--input")+1] = n.url + "/days/{date-2..date}.parquet"
			espalier(t, stale...).wants(t, 3, "the newest day with rows is", "--max_lag")
			n.predict(t, 0, "--min_rows", "1501").wants(t, 3, "1500 rows", "--min_rows")
			n.predict(t, 0, "--output", n.url+"/{date-1..date}").wants(t, 2, "--output", "want one day")
			n.predict(t, 0, "--output", n.url+"/{day}/{date-}").wants(t, 2, "--output", "want {date}")
			n.predict(t, 0, "--date", "soon").wants(t, 2, "--date")

			n.write(t, 1, false)
			n.retrain(t, 1).wants(t, 0)
			n.predict(t, 0).wants(t, 2, "by another tree", "--overwrite")
			if now := n.published(t, folder); now != first {
				t.Errorf("predictions by %s, want %s", now, first)
			}
			n.predict(t, 0, "--overwrite").wants(t, 0)
			if now := n.published(t, folder); now != n.digestInUse(t) {
				t.Errorf("predictions by %s, want the tree in use", now)
			}
			n.write(t, 0, true) // the file comes again
			n.predict(t, 0).wants(t, 2, "from other files", "--overwrite")
			n.predict(t, 0, "--overwrite").wants(t, 0)
			n.published(t, folder)
			n.predict(t, 0, "--key", "shop").wants(t, 2, "with other settings")

			output := objectstore.Join(n.url, folder, dateOf(t, 0)+".parquet")
			if err := n.store.Remove(t.Context(), output); err != nil {
				t.Fatal(err)
			}
			wantsPrinted(t, n.predict(t, 0), "scored 1500 rows") // as a file was gone
			n.published(t, folder)
		})
	}
}

// TestPredictKilled kills scorings of a day behind each request that changes something: the folder counts only with
// all files of one tree, another attempt ends the day, and a third finds nothing to do. On gs a day is scored, on s3
// its predictions are replaced; with -tags long, both are done on each, and killed before and behind each request. On
// disk they are killed at moments.
func TestPredictKilled(t *testing.T) {
	longtest.Skip(t)
	disk := newNightly(t, "file")
	for day := range 2 {
		disk.write(t, day, false)
		disk.retrain(t, day).wants(t, 0)
	}
	for _, scheme := range []string{"file", "gs", "s3"} {
		for _, replaced := range []bool{false, true} {
			if scheme != "file" && replaced != (scheme == "s3") && !longtest.Enabled() {
				continue
			}
			t.Run(fmt.Sprintf("%s, replaced %t", scheme, replaced), func(t *testing.T) {
				k := &killedScoring{nightly: disk, replaced: replaced}
				if scheme != "file" {
					k.cloud = emptyCloud(t, scheme)
					k.nightly = nightlyBelow(t, k.cloud.store, scheme+"://bucket/nightly")
					disk.copyTo(t, k.nightly)
				}
				k.run(t)
			})
		}
	}
}

// copyTo copies the days and the models to another retraining.
func (n *nightly) copyTo(t *testing.T, to *nightly) {
	t.Helper()
	days, err := n.store.Below(t.Context(), objectstore.Join(n.url, "days"), 9)
	if err != nil {
		t.Fatal(err)
	}
	models, err := n.store.Below(t.Context(), objectstore.Join(n.url, "models"), 9)
	if err != nil {
		t.Fatal(err)
	}
	list := slices.Concat(days, models)
	for _, o := range list {
		b, err := n.store.ReadAll(t.Context(), o.URL, 1<<24)
		if err == nil {
			err = to.store.Put(t.Context(), to.url+strings.TrimPrefix(o.URL, n.url), b, objectstore.WriteOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// killedScoring is a scoring of a day that is killed. It may replace predictions by an earlier tree.
type killedScoring struct {
	*nightly

	cloud    *cloud // nil: on disk
	replaced bool

	earlier, want string // digests of trees
	trials        int
}

func (k *killedScoring) run(t *testing.T) {
	t.Helper()
	k.want = k.digestInUse(t)
	args := k.begin(t)
	start := time.Now()
	if k.cloud != nil {
		k.cloud.Clear()
	}
	espalier(t, args...).wants(t, 0)
	took := time.Since(start)
	if k.cloud == nil {
		moments := 4
		if longtest.Enabled() {
			moments = 8
		}
		for i := range moments {
			k.try(t, func(c *exec.Cmd) {
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				defer time.AfterFunc(took*time.Duration(i)/time.Duration(moments), func() { _ = c.Process.Kill() }).Stop()
				_ = c.Wait() // killed, or done
			})
		}
		return
	}
	kinds := []objectstoretest.Kind{objectstoretest.Write, objectstoretest.Remove}
	if longtest.Enabled() {
		kinds = nil
	}
	requests := k.cloud.Count(kinds...)
	if requests < 6 {
		t.Fatalf("%d requests, want more: lock, claim, predictions, metrics, manifest, _SUCCESS", requests)
	}
	for i := range requests - 1 { // the number may differ by the request that a pause saves
		for _, behind := range []bool{false, true} {
			if !behind && !longtest.Enabled() {
				continue
			}
			k.try(t, func(c *exec.Cmd) { k.killAt(t, c, kinds, i, behind) })
		}
	}
}

// killAt runs a command, and kills it at a request.
func (k *killedScoring) killAt(t *testing.T, c *exec.Cmd, kinds []objectstoretest.Kind, skip int, behind bool) {
	t.Helper()
	k.cloud.Inject(objectstoretest.Fault{
		Kinds: kinds, Skip: skip,
		Effect: func(_ http.ResponseWriter, r *http.Request, store http.Handler, _ <-chan struct{}) {
			if behind {
				store.ServeHTTP(httptest.NewRecorder(), r)
			}
			_ = c.Process.Kill() // the exit code tells
			panic(http.ErrAbortHandler)
		},
	})
	if err := c.Run(); err == nil || c.ProcessState.ExitCode() >= 0 {
		t.Errorf("request %d: not killed: %v", skip, c.ProcessState)
	}
	k.cloud.Clear()
}

// folder returns the folder of the trial.
func (k *killedScoring) folder() string { return fmt.Sprintf("trial-%t-%d", k.replaced, k.trials) }

// begin prepares a trial in a folder of its own, and returns the command line.
func (k *killedScoring) begin(t *testing.T) []string {
	t.Helper()
	k.trials++
	args := k.scoring(t, 1, k.folder())
	if !k.replaced {
		return args
	}
	list, err := k.store.List(t.Context(), objectstore.Join(k.url, "models/runs/"+dateOf(t, 0)+"-*/tree.json"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	espalier(t, append(args, "--model", list[0].URL)...).wants(t, 0)
	k.earlier = k.published(t, k.folder()+"/"+dateOf(t, 1))
	return append(args, "--overwrite")
}

// try kills a scoring, and lets two more attempts end.
func (k *killedScoring) try(t *testing.T, kill func(c *exec.Cmd)) {
	t.Helper()
	args := k.begin(t)
	day := k.folder() + "/" + dateOf(t, 1)
	kill(exec.CommandContext(t.Context(), binary, args...))
	left := k.publishedRows(t, day, k.cloud != nil && k.replaced)
	if left != "" && left != k.want && left != k.earlier || k.replaced && left == "" {
		t.Errorf("%s: predictions by %q", day, left)
	}
	if left == "" { // unfinished predictions are replaced in any case
		args = slices.DeleteFunc(args, func(flag string) bool { return flag == "--overwrite" })
	}
	o := espalier(t, args...)
	o.wants(t, 0)
	again := strings.Contains(o.stdout, "nothing to do")
	if !again && left == k.want || again && left != k.want && !k.replaced { // the next attempt may end what a killed one has staged
		t.Errorf("%s: after a kill that left %q: %s", day, left, o.stdout)
	}
	if now := k.published(t, day); now != k.want {
		t.Errorf("%s: the next attempt left predictions by %q", day, now)
	}
	wantsPrinted(t, espalier(t, args...), "nothing to do")
}

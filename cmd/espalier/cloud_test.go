package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// cloud is an emulator behind a proxy that counts and harms requests, and the
// same files on disk.
type cloud struct {
	*objectstoretest.Faults

	store *objectstore.Store
	url   string // URL of a folder of wide files
	local string // path of a local copy of the folder
}

const (
	cloudFiles, cloudGroups, cloudColumns = 4, 3, 40
	cloudRows                             = 900 // a file
)

func newCloud(t *testing.T, scheme string) *cloud {
	t.Helper()
	c := emptyCloud(t, scheme)
	for i := range cloudFiles {
		name := fmt.Sprintf("part-%d.parquet", i)
		c.write(t, objectstore.Join(c.local, name), i)
		c.write(t, objectstore.Join(c.url, name), i)
	}
	c.Clear()
	return c
}

func emptyCloud(t *testing.T, scheme string) *cloud {
	t.Helper()
	c := &cloud{store: objectstore.New(), url: scheme + "://bucket/wide", local: t.TempDir()}
	if scheme == "gs" {
		c.Faults = objectstoretest.NewFaults(t, objectstoretest.StartGCS(t, "bucket"))
		objectstoretest.UseGCS(t, c.URL)
	} else {
		c.Faults = objectstoretest.NewFaults(t, objectstoretest.StartS3(t, "bucket"))
		objectstoretest.UseS3(t, c.URL)
	}
	c.store.Register("gs", gcsstore.New(httpstore.Options{}))
	c.store.Register("s3", s3store.New(httpstore.Options{}))
	return c
}

// write writes a file of numbers of which the class depends on the first.
func (c *cloud) write(t *testing.T, url string, seed int) {
	t.Helper()
	var columns []parquetio.WriteColumn
	for k := range cloudColumns {
		values := make([]float64, cloudRows)
		for r := range values {
			values[r] = float64((r*(2*k+7)+seed)%997) / 4
		}
		columns = append(columns, parquetio.WriteColumn{Name: fmt.Sprintf("x%02d", k), Values: values})
	}
	classes := make([]string, cloudRows)
	for r := range classes {
		classes[r] = strconv.FormatBool((r*7+seed)%997 > 400)
	}
	columns = append(columns, parquetio.WriteColumn{Name: "class", Values: classes})
	opts := parquetio.WriteOptions{RowsPerGroup: cloudRows / cloudGroups}
	if err := parquetio.Write(t.Context(), c.store, url, columns, opts); err != nil {
		t.Fatal(err)
	}
}

// fiveColumns leaves out all features but the last four before the class.
func fiveColumns() string {
	var names []string
	for k := range cloudColumns - 4 {
		names = append(names, fmt.Sprintf("x%02d", k))
	}
	return strings.Join(names, ",")
}

func (c *cloud) train(t *testing.T, input, output string, flags ...string) outcome {
	t.Helper()
	return espalier(t, append([]string{
		"train", "--input", input, "--label", "class", "--output", output, "--progress", "none", "--certificate", "none", "--split", "80/0/20",
		"--lambda", "10", "--theta", "0.005",
	}, flags...)...)
}

// TestCloud: a run from and to an object store, its configuration and costs
// included, gives the bytes of a local one and reads no more than it has to.
func TestCloud(t *testing.T) {
	for _, scheme := range []string{"gs", "s3"} {
		t.Run(scheme, func(t *testing.T) {
			c := newCloud(t, scheme)
			for name, text := range map[string]string{
				"train.yaml": "ignore: " + fiveColumns() + "\n",
				"costs.csv":  "feature,cost\nx39,3\n",
			} {
				put(t, c.store, c.url+"/etc/"+name, text)
			}
			c.Clear()
			c.train(t, c.url+"/*.parquet", c.url+"/run", "--config", c.url+"/etc/train.yaml", "--costs",
				c.url+"/etc/costs.csv").wants(t, 0)
			c.checkReads(t)
			localRun := filepath.Join(t.TempDir(), "run")
			c.train(t, c.local+"/*.parquet", localRun, "--config", c.url+"/etc/train.yaml", "--costs",
				c.url+"/etc/costs.csv").wants(t, 0)
			for _, name := range []string{"tree.json", "metrics.json", "schema.json", "_SUCCESS"} {
				got, err := c.store.ReadAll(t.Context(), c.url+"/run/"+name, 0)
				if err != nil {
					t.Fatal(err)
				}
				if want := read(t, filepath.Join(localRun, name)); !bytes.Equal(got, want) {
					t.Errorf("%s differs from that of the local run", name)
				}
			}
			o := espalier(t, "evaluate", "--model", c.url+"/run", "--input", c.url+"/*.parquet", "--output",
				c.url+"/out/metrics.json", "--progress", "none")
			o.wants(t, 0)
			if _, err := c.store.Stat(t.Context(), c.url+"/out/metrics.json"); err != nil {
				t.Error(err)
			}
			espalier(t, "show", c.url+"/run").wants(t, 0)
			c.train(t, c.url+"/*.parquet", c.url+"/run").wants(t, 2, "finished run", "--overwrite")
		})
	}
}

func put(t *testing.T, s *objectstore.Store, url, text string) {
	t.Helper()
	w, err := s.Create(t.Context(), url, objectstore.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// checkReads checks what a training of five neighbouring columns has read: two
// requests for a footer, one for a row group, although there are two passes, and
// one each for configuration and costs.
func (c *cloud) checkReads(t *testing.T) {
	t.Helper()
	if got, want := c.Count(objectstoretest.Read), 2*cloudFiles+cloudFiles*cloudGroups+2; got != want {
		t.Errorf("%d reads, want %d: %+v", got, want, c.Requests(objectstoretest.Read))
	}
	// One listing each of the input, of the output's frontier/ (for files of other programs), and of the input's
	// folder and the bucket's root (for the logs of tables, whose folders the first listing leaves out).
	if got := c.Count(objectstoretest.List); got != 4 {
		t.Errorf("%d listings, want 4: %+v", got, c.Requests(objectstoretest.List))
	}
	_, received := c.Bytes(objectstoretest.Read)
	footers, columns := c.needed(t)
	const small = 1000 // configuration and costs
	if limit := footers + columns*101/100 + small; received > limit {
		t.Errorf("%d bytes read, want at most %d for footers of %d and columns of %d", received, limit, footers, columns)
	}
}

// TestCloudTables: files of a table in a bucket are refused, after few listings.
func TestCloudTables(t *testing.T) {
	for _, scheme := range []string{"gs", "s3"} {
		c := emptyCloud(t, scheme)
		for day := range 20 {
			put(t, c.store, fmt.Sprintf("%s/t/day=%d/a.parquet", c.url, day), "x")
			put(t, c.store, fmt.Sprintf("%s/plain/day=%d/metadata/a.parquet", c.url, day), "x")
		}
		put(t, c.store, c.url+"/t/metadata/v2.metadata.json", "{}")
		// One listing is of the output, one of a pattern's folder, one of each folder that this does not show, and one of
		// metadata/, as the name alone makes no table.
		for input, want := range map[string]int{"/t/*/*.parquet": 4, "/**": 3, "/t/day=1/*.parquet": 7, "/t/day=1/a.parquet": 6} {
			c.Clear()
			c.train(t, c.url+input, c.url+"/run").wants(t, 2, c.url+"/t is an Iceberg table")
			if got := c.Count(objectstoretest.List); got != want {
				t.Errorf("%s%s: %d listings, want %d", scheme, input, got, want)
			}
		}
		c.Clear()
		c.train(t, c.url+"/plain/*/metadata/*.parquet", c.url+"/run").wants(t, 3, "a.parquet")
		if got := c.Count(objectstoretest.List); got != 4 {
			t.Errorf("%s: %d listings of folders called metadata, want 4", scheme, got)
		}
	}
}

// needed returns the bytes of footers and of the columns that were trained on,
// as the manifest has them.
func (c *cloud) needed(t *testing.T) (footers, columns int64) {
	t.Helper()
	b, err := c.store.ReadAll(t.Context(), c.url+"/run/manifest.json", 0)
	if err != nil {
		t.Fatal(err)
	}
	var m runfolder.Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m.Counters["footer_bytes"], m.Counters["column_bytes"]
}

// TestCloudCovertype trains on five of the 55 columns of a real data set, and
// with the log tells how much longer that takes than from files if each request
// takes 20 ms.
func TestCloudCovertype(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "bench", "data", "covertype", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Skip("waits for bench/data/covertype, which bench/datasets.py fetches")
	}
	local, err := parquetio.Open(t.Context(), objectstore.New(), files[0])
	if err != nil {
		t.Fatal(err)
	}
	var ignored []string
	for i, column := range local.Columns() {
		if i > 3 && column.Name != "class" {
			ignored = append(ignored, column.Name)
		}
	}
	schemes := []string{"gs", "s3"}
	if !longtest.Enabled() {
		schemes = schemes[:1]
	}
	for _, scheme := range schemes {
		c := emptyCloud(t, scheme)
		for _, file := range files {
			put(t, c.store, objectstore.Join(c.url, filepath.Base(file)), string(read(t, file)))
		}
		c.Clear()
		c.Inject(objectstoretest.Fault{Effect: objectstoretest.Latency(20 * time.Millisecond)})
		seconds := func(input, output string) float64 {
			start := time.Now()
			// Validation rows choose: five folds of 465,000 rows take more memory than the tests have.
			c.train(t, input, output, "--ignore", strings.Join(ignored, ","), "--overwrite", "--split", "70/10/20").wants(t, 0)
			return time.Since(start).Seconds()
		}
		far := seconds(c.url+"/*.parquet", c.url+"/run")
		reads := c.Count(objectstoretest.Read)
		_, received := c.Bytes(objectstoretest.Read)
		footers, columns := c.needed(t)
		if limit := footers + columns*101/100; received > limit {
			t.Errorf("%s: %d bytes read, want at most %d for footers of %d and columns of %d", scheme, received, limit, footers,
				columns)
		}
		if limit := 3*len(files) + 2*48; reads > limit {
			t.Errorf("%s: %d reads of 16 files with 48 row groups, want at most %d", scheme, reads, limit)
		}
		near := seconds(filepath.Join(filepath.Dir(files[0]), "*.parquet"), filepath.Join(t.TempDir(), "run"))
		t.Logf("%s: %d reads, %d bytes for footers of %d and columns of %d; %.2f s, from files %.2f s: ratio %.2f",
			scheme, reads, received, footers, columns, far, near, far/near)
	}
}

// fault is a fault that a store is made to have.
type fault = objectstoretest.Fault

// cloudFault is a case of TestCloudFaults.
type cloudFault struct {
	fault fault
	code  int
	words []string
	waits bool // for seconds: only the long tests have it, as the stores' own tests have such faults with shorter waits
}

// cloudFaults lists faults of a store, with the exit code and words of the message.
func cloudFaults() map[string]cloudFault {
	reads, lists, writes := []objectstoretest.Kind{objectstoretest.Read}, []objectstoretest.Kind{objectstoretest.List},
		[]objectstoretest.Kind{objectstoretest.Write}
	aPage := func(r *http.Request) bool { return r.Header.Get("Range") != "" }
	const footers = 2 * cloudFiles // requests before the first page is read
	return map[string]cloudFault{
		"503 burst":           {fault: fault{Times: 3, Effect: objectstoretest.Status(http.StatusServiceUnavailable)}},
		"429 burst of reads":  {fault: fault{Kinds: reads, Times: 3, Effect: objectstoretest.Status(http.StatusTooManyRequests)}},
		"bodies cut":          {fault: fault{Kinds: reads, Times: 6, Effect: objectstoretest.CutBody(100)}},
		"answers lost":        {fault: fault{Kinds: writes, Times: 2, Effect: objectstoretest.LoseAnswer()}},
		"a byte flipped once": {fault: fault{Kinds: reads, Skip: footers, Times: 1, Effect: objectstoretest.FlipByte(200)}},
		"short bodies once":   {fault: fault{Kinds: reads, Times: 2, Effect: objectstoretest.ShortBody(3)}},
		"stalls once":         {fault: fault{Kinds: reads, Times: 1, Effect: objectstoretest.StallBody(2)}},
		"slow bodies":         {fault: fault{Kinds: reads, Times: 1, Effect: objectstoretest.SlowBody(64, time.Millisecond)}},
		"never answers lists": {
			fault: fault{Kinds: lists, Effect: objectstoretest.Hang()}, code: 5, words: []string{"--input", "bucket/wide"}, waits: true,
		},
		"never answers reads": {
			fault: fault{Kinds: reads, Skip: footers, Match: aPage, Effect: objectstoretest.Hang()}, code: 5,
			words: []string{"part-"}, waits: true,
		},
		"no right to list": {
			fault: fault{Kinds: lists, Effect: objectstoretest.Status(http.StatusForbidden)}, code: 2,
			words: []string{"--input", "ist", "bucket"},
		},
		"no right to read": {
			fault: fault{Kinds: reads, Effect: objectstoretest.Status(http.StatusForbidden)}, code: 2,
			words: []string{"--input", "part-", "et"},
		},
		"no right to write": {
			fault: fault{Kinds: writes, Effect: objectstoretest.Status(http.StatusForbidden)}, code: 2,
			words: []string{"--output", "_LOCK"},
		},
		"flipped for good": {
			fault: fault{Kinds: reads, Skip: footers, Effect: objectstoretest.FlipByte(200)}, code: 3,
			words: []string{"part-", "row group", "damaged"},
		},
		"condition lost": {
			fault: fault{Kinds: writes, Effect: objectstoretest.Status(http.StatusPreconditionFailed)}, code: 5,
			words: []string{"--output", "another run"},
		},
		"bodies of wrong sizes": {
			fault: fault{Kinds: reads, Effect: objectstoretest.LongBody(7)}, code: 5, words: []string{"expected", "bytes"}, waits: true,
		},
	}
}

// TestCloudFaults: what is transient is tried again, all else is told in one
// sentence, and nothing half-written is seen.
func TestCloudFaults(t *testing.T) {
	longtest.Skip(t)
	for name, c := range cloudFaults() {
		if c.waits && !longtest.Enabled() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			schemes := []string{"gs", "s3"}
			if !longtest.Enabled() {
				schemes = schemes[len(name)%2:][:1] // half of the faults on each
			}
			for _, scheme := range schemes {
				cl := newCloud(t, scheme)
				cl.Inject(c.fault)
				o := cl.train(t, cl.url+"/*.parquet", cl.url+"/run", "--ignore", fiveColumns(), "--storage_timeout", "0.3", "--select", "first")
				o.wants(t, c.code, c.words...)
				cl.Clear()
				left, _ := cl.store.List(t.Context(), cl.url+"/run/**") // none is an error
				if c.code != 0 && len(left) > 0 {
					t.Errorf("%s: left behind: %v", scheme, left)
				}
				if c.code == 0 && len(left) != 7 { // and _SUCCESS, which no glob matches
					t.Errorf("%s: written: %v", scheme, left)
				}
			}
		})
	}
}

// TestCloudReplaced replaces a file between its footer and its pages.
func TestCloudReplaced(t *testing.T) {
	for _, scheme := range []string{"gs", "s3"} {
		c := newCloud(t, scheme)
		c.Inject(objectstoretest.Fault{
			Kinds: []objectstoretest.Kind{objectstoretest.Read}, Skip: 2 * cloudFiles, Times: 1,
			Effect: func(w http.ResponseWriter, r *http.Request, store http.Handler, _ <-chan struct{}) {
				for i := range cloudFiles {
					c.write(t, fmt.Sprintf("%s/part-%d.parquet", c.url, i), 100+i)
				}
				store.ServeHTTP(w, r)
			},
		})
		c.train(t, c.url+"/*.parquet", c.url+"/run").wants(t, 3, "part-", "was replaced, removed or written", "run again")
	}
}

// TestCloudMistakes: what a new user gets wrong.
func TestCloudMistakes(t *testing.T) {
	longtest.Skip(t)
	schemes := []string{"gs", "s3"}
	if !longtest.Enabled() {
		schemes = schemes[1:]
	}
	for _, scheme := range schemes {
		c := newCloud(t, scheme)
		for input, words := range map[string][]string{
			scheme + "://buckte/wide/*.parquet": {"--input", `bucket`, "buckte"},
			"gss://bucket/wide/*.parquet":       {`did you mean "gs"?`},
			c.url + "/part-9.parquet":           {"part-9.parquet"},
			c.url + "/*.csv":                    {"no object matches"},
		} {
			c.train(t, input, t.TempDir()).wants(t, 2, words...)
		}
		for _, input := range []string{c.url, c.url + "/", scheme + "://bucket", scheme + "://bucket/"} {
			c.train(t, input, filepath.Join(t.TempDir(), "run")).wants(t, 0)
		}
		c.train(t, c.url, scheme+"://bukcet/run").wants(t, 2, "--output", "bukcet")
	}
}

// TestCloudCredentials: without credentials the error says what to do.
func TestCloudCredentials(t *testing.T) {
	longtest.Skip(t)
	for _, name := range []string{
		"STORAGE_EMULATOR_HOST", "GOOGLE_APPLICATION_CREDENTIALS", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE",
	} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("GCE_METADATA_HOST", "127.0.0.1:9") // nobody answers
	t.Setenv("AWS_REGION", "us-east-1")
	espalier(t, "train", "--input", "s3://bucket/x", "--label", "class", "--output", t.TempDir(), "--progress", "none",
		"--storage_timeout", "1").
		wants(t, 2, "AWS_ACCESS_KEY_ID")
	espalier(t, "train", "--input", "gs://bucket/x", "--label", "class", "--output", t.TempDir(), "--progress", "none",
		"--storage_timeout", "1").
		wants(t, 2, "GOOGLE_APPLICATION_CREDENTIALS")
}

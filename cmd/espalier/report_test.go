package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestReport: train and report write the same page, also where columns and classes have hostile
// names; a promotion writes the page of its tree; a row and an earlier run have their sections.
func TestReport(t *testing.T) {
	for name, input := range map[string]string{"plain": mixed(t, 600, parquetio.WriteOptions{}), "hostile": hostile(t)} {
		o, run := train(t, input, fewTrees("--leaf_model", "auto", "--made_up_rows", "500")...)
		o.wants(t, 0)
		page := func() string { return string(read(t, filepath.Join(run, "report.html"))) }
		first, file := page(), filepath.Join(t.TempDir(), "page.html")
		written := espalier(t, "report", run, "--output", file)
		written.wants(t, 0)
		if string(read(t, file)) != first || written.stdout != "wrote "+file+"\n" {
			t.Errorf("%s: report writes another page than train (%s)", name, written.stdout)
		}
		espalier(t, "report", run, "--overwrite", "--row", input+":7", "--previous", run).wants(t, 0)
		if with := page(); !strings.Contains(with, "Against the earlier run") || !strings.Contains(with, ` id="row"`) ||
			!strings.Contains(with, `"path":[0`) {
			t.Errorf("%s: the page has neither a row nor an earlier run", name)
		}
		espalier(t, "frontier", run, "--promote", "1", "--output", run+"-1", "--progress", "none").wants(t, 0)
		promoted := string(read(t, filepath.Join(run+"-1", "report.html")))
		espalier(t, "report", run+"-1", "--output", file, "--overwrite").wants(t, 0)
		if promoted == first || promoted != string(read(t, file)) {
			t.Errorf("%s: a promotion leaves another page than report writes", name)
		}
		if seen := validateAll(t, "train", run); seen["manifest"] != 1 {
			t.Errorf("validated %v", seen)
		}
	}
}

// TestReportRefuses: what is not a finished run, or lies there and is no report, is refused. A run
// trained without a report gets one, and lists it.
func TestReportRefuses(t *testing.T) {
	input := mixed(t, 300, parquetio.WriteOptions{})
	o, run := train(t, input, "--select", "first", "--certificate", "none", "--report", "none")
	o.wants(t, 0)
	own := filepath.Join(run, "report.html")
	if _, err := os.Stat(own); err == nil {
		t.Fatal("train --report none writes a report")
	}
	other := filepath.Join(t.TempDir(), "notes.html")
	if err := os.WriteFile(other, []byte("<p>mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	espalier(t, "report", run).wants(t, 0)
	if !strings.Contains(string(read(t, filepath.Join(run, "manifest.json"))), `"report.html"`) {
		t.Error("the manifest does not list the report")
	}
	espalier(t, "report", run, "--output", other+".new").wants(t, 0)
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{nil, []string{"report takes one run folder"}},
		{[]string{run, run}, []string{"report takes one run folder"}},
		{[]string{run}, []string{run, "report.html", "--overwrite"}},
		{[]string{run, "--output", other}, []string{"notes.html", "no report", "nothing is overwritten"}},
		{[]string{run, "--output", other, "--overwrite"}, []string{"notes.html", "no report"}},
		{[]string{run, "--output", other + ".new"}, []string{"has another report", "--overwrite"}},
		{[]string{"nowhere"}, []string{"nowhere has no manifest.json"}},
		{[]string{run, "--overwrite", "--previous", "nowhere"}, []string{"--previous nowhere"}},
		{[]string{run, "--overwrite", "--row", "x"}, []string{"--row x: want FILE:N"}},
		{[]string{run, "--overwrite", "--row", input + ":300"}, []string{"there are rows 0 to 299"}},
	} {
		espalier(t, append([]string{"report"}, c.args...)...).wants(t, 2, c.words...)
	}
	if string(read(t, other)) != "<p>mine" {
		t.Error("a file of others was replaced")
	}
	espalier(t, "train", "--input", input, "--label", "class", "--output", run, "--overwrite", "--report", "none", "--select",
		"first", "--certificate", "none", "--progress", "none").wants(t, 0)
	if _, err := os.Stat(own); err == nil {
		t.Error("the report of a replaced run stays")
	}
}

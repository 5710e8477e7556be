package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// TestLatest: each verb that takes a run or a model takes LATEST.json, unless it would change the run in use. If the run
// has another tree than LATEST.json names, no verb takes it, and all say so in the same words.
func TestLatest(t *testing.T) {
	longtest.Skip(t)
	n := newNightly(t, "file")
	n.write(t, 0, false)
	n.retrain(t, 0, fewTrees("--select", "best")...).wants(t, 0)
	rows, out := n.fileOf(t, 0), t.TempDir()
	named, run := objectstore.Join(n.url, "models", latest.Name), objectstore.Join(n.url, "models", n.inUse(t))
	output := func(name string) []string { return []string{"--output", filepath.Join(out, name), "--overwrite"} }
	verbs := map[string][]string{
		"show": {"show", named}, "figures": {"show", named, "--figures"},
		"picture": {"show", named, "--picture", "frontier"}, "drawing": {"show", named, "--format", "svg"},
		"report": append([]string{"report", named}, output("report.html")...), "report in run": {"report", named, "--overwrite"},
		"card":     append([]string{"report", named, "--format", "markdown"}, output("card.md")...),
		"previous": append([]string{"report", run, "--previous", named}, output("previous.html")...),
		"frontier": {"frontier", named}, "promotion": append([]string{"frontier", named, "--promote", "0", "--without_rows"}, output("promoted")...),
		"evaluate": {"evaluate", "--model", named, "--input", rows},
		"predict":  append([]string{"predict", "--model", named, "--input", rows}, output("scored")...),
		"compare":  {"evaluate", named, "--against", run, "--input", rows},
		"drift":    {"drift", "--model", named, "--input", rows}, "against": {"drift", "--model", run, "--against", named},
		"ask":       {"ask", named, "--json", "--value", "x=0.1", "--value", "shop=a"},
		"export":    append([]string{"export", named, "--format", "json"}, output("tree.json")...),
		"cuts_from": append([]string{"train", "--input", rows, "--label", "class", "--select", "first", "--cuts_from", named}, output("cuts")...),
		"refit":     append([]string{"train", "--input", rows, "--label", "class", "--refit", named}, output("refit")...),
	}
	for name, args := range verbs {
		t.Run(name, func(t *testing.T) { espalier(t, args...).wants(t, 0) })
	}
	espalier(t, "show", named, "--origin").wants(t, 0)
	other := read(t, filepath.Join(run, "frontier", "000.json"))
	if err := os.WriteFile(filepath.Join(run, "tree.json"), other, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range verbs {
		t.Run(name+" of another tree", func(t *testing.T) { espalier(t, args...).wants(t, 2, "is not the tree that LATEST.json names") })
	}
}

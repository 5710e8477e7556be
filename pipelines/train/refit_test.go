package train_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// refitted refits the tree of a run by its own settings on some files.
func refitted(t *testing.T, c config.Train, input ...string) (folder string, r *train.Result) {
	t.Helper()
	c.Refit, c.Output = c.Output, filepath.Join(t.TempDir(), "refit")
	if len(input) > 0 {
		c.Input = input
	}
	return c.Output, trained(t, c)
}

// TestRefit: with the rows that the tree was grown from, a refit gives the bytes of the tree, and its metrics.
func TestRefit(t *testing.T) {
	longtest.Skip(t)
	data := newRows(900).write(t, ascending(900), 2, parquetio.WriteOptions{})
	few := config.DefaultTrain()
	few.Input, few.Label, few.Ignore, few.Folds = []string{data}, "class", []string{"id"}, crossvalidate.Setting{}
	few.Algorithm, few.Lambda, few.Theta = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.005}
	few.Certificate = false
	weighted, multiway, raw, paper := few, few, few, few
	weighted.Weight, weighted.BalanceClasses, weighted.FreeRepeats, weighted.CostUnit = "weight", true, true, "euros"
	multiway.Tests, multiway.Split = []split.Family{split.Multiways}, dataset.Shares{60, 40, 0}
	raw.LeafEstimate, raw.Runner = tree.Raw, "prism"
	paper.Tests, paper.Binning, paper.LeafEstimate, paper.Prune = []split.Family{split.OneHot}, binning.KMeans, tree.Majority, nil
	curved := trainCurved(t)
	curved.LeafModel, curved.Teacher, curved.Folds, curved.Certificate = "linear", "none", crossvalidate.Setting{}, false
	curved.Algorithm, curved.Lambda, curved.Theta = []split.Algorithm{split.C45}, []float64{10}, []float64{0.005}
	boosted := curved
	boosted.LeafModel = "boosted"
	soft := softTrees()
	soft.Input, soft.Folds, soft.Certificate = []string{newSoftRows(900, false).write(t, ascending(900), 2, true)}, crossvalidate.Setting{}, false
	for name, c := range map[string]config.Train{
		"few": few, "weighted": weighted, "multiway": multiway, "raw": raw, "paper": paper, "linear": curved, "boosted": boosted,
		"soft": soft,
	} {
		c.Output = filepath.Join(t.TempDir(), "run")
		r := trained(t, c)
		if modelled := name == "linear" || name == "boosted"; r.Tree.Modelled() != modelled || r.Tree.Complexity.Leaves < 3 {
			t.Fatalf("%s: %d leaves, with models: %v", name, r.Tree.Complexity.Leaves, r.Tree.Modelled())
		}
		folder, _ := refitted(t, c)
		if !bytes.Equal(content(t, folder, "tree.json"), content(t, c.Output, "tree.json")) {
			t.Errorf("%s: another tree than the rows gave at first", name)
		}
		if !bytes.Equal(content(t, folder, "metrics.json"), content(t, c.Output, "metrics.json")) {
			t.Errorf("%s: other metrics than at first", name)
		}
		if !bytes.Equal(content(t, folder, "distribution.json"), content(t, c.Output, "distribution.json")) {
			t.Errorf("%s: another distribution than at first", name)
		}
	}
}

// TestRefitTaught: a tree that was taught, with models in its leaves, is refitted to the rows alone. An object cache
// changes nothing.
func TestRefitTaught(t *testing.T) {
	longtest.Skip(t)
	c := taughtTrees(t)
	c.LeafModel, c.Select = "boosted", frontier.Best
	before := trained(t, c)
	at := slices.IndexFunc(before.Frontier.Points, func(p runfolder.Point) bool {
		return p.Algorithm.Teacher != "" && p.Algorithm.BoosterTrees > 0
	})
	if at < 0 {
		t.Fatal("no taught tree with boosters is on the frontier")
	}
	c.Output = promoteTo(t, c.Output, at, nil).Output
	_, r := refitted(t, c)
	if r.Tree.Algorithm.Teacher != "boosted" || !r.Tree.Modelled() || r.Tree.Training.WeightScale > 1 ||
		r.Tree.Nodes[0].Rows != before.Tree.Training.Rows || r.Metrics.Test == nil {
		t.Errorf("%+v, %+v", r.Tree.Algorithm, r.Tree.Training)
	}
}

// TestRefitNewRows: other rows change counts and prices, not tests. A leaf without rows has its parent's estimate.
func TestRefitNewRows(t *testing.T) {
	rows := newRows(900)
	c := config.DefaultTrain()
	c.Input, c.Label, c.Ignore = []string{rows.write(t, ascending(900), 2, parquetio.WriteOptions{})}, "class", []string{"id"}
	c.Select, c.LeafEstimate, c.Split, c.Output = frontier.First, tree.Raw, dataset.Shares{100, 0, 0}, filepath.Join(t.TempDir(), "run")
	before := trained(t, c).Tree
	c.CostsFile = textFile(t, "costs.csv", "feature,cost\n"+before.Features[before.Nodes[0].Test.Feature].Name+",7\n")
	fewer := rows.write(t, ascending(900)[:40], 1, parquetio.WriteOptions{})
	_, r := refitted(t, c, fewer)
	now := r.Tree
	if now.Training.Rows != 40 || now.Nodes[0].Rows != 40 || len(now.Nodes) != len(before.Nodes) {
		t.Fatalf("%d rows at the root, %d nodes; want 40 and %d", now.Nodes[0].Rows, len(now.Nodes), len(before.Nodes))
	}
	if now.Nodes[0].Test.Cost != 7 || now.Complexity.ExpectedCost <= before.Complexity.ExpectedCost {
		t.Errorf("the first test costs %v, want 7", now.Nodes[0].Test.Cost)
	}
	empty := 0
	for i := range now.Nodes {
		n, was := &now.Nodes[i], &before.Nodes[i]
		if n.Leaf() != was.Leaf() || !n.Leaf() && !reflect.DeepEqual(n.Test.Test, was.Test.Test) {
			t.Fatalf("node %d has another test", i)
		}
		rows := int64(0)
		for _, b := range n.Branches {
			child := &now.Nodes[b.Child]
			rows += child.Rows
			if child.Rows == 0 {
				empty++
				if !slices.Equal(child.Probabilities, n.Probabilities) {
					t.Errorf("node %d without rows has the probabilities %v, its parent %v", b.Child, child.Probabilities, n.Probabilities)
				}
			}
		}
		if !n.Leaf() && rows != n.Rows {
			t.Errorf("node %d has %d rows, its children %d", i, n.Rows, rows)
		}
	}
	if empty == 0 {
		t.Error("all leaves have rows: the test says nothing of empty ones")
	}
	if _, err := tree.Decode(now.Encode()); err != nil {
		t.Error(err)
	}
}

// TestRefitRepeats: the run that refits decides whether further tests of a feature are free, not the run of the tree.
func TestRefitRepeats(t *testing.T) {
	for _, free := range []bool{false, true} {
		c := trainCurved(t)
		c.LeafModel, c.Teacher, c.Folds, c.Certificate = "none", "none", crossvalidate.Setting{}, false
		c.Select, c.Split, c.Output = frontier.First, dataset.Shares{100, 0, 0}, filepath.Join(t.TempDir(), "run")
		c.FreeRepeats = free
		before := trained(t, c).Tree
		c.FreeRepeats = !free
		_, r := refitted(t, c)
		if _, err := tree.Decode(r.Tree.Encode()); err != nil {
			t.Errorf("free %v, then %v: %v", free, !free, err)
		}
		if was, now := before.Complexity.ExpectedCost, r.Tree.Complexity.ExpectedCost; (now > was) != free || now == was {
			t.Errorf("free %v, then %v: the expected cost was %v, and is %v", free, !free, was, now)
		}
	}
}

// TestRefitRefused names what does not fit.
func TestRefitRefused(t *testing.T) {
	c := fruitConfig(t)
	c.Output = filepath.Join(t.TempDir(), "run")
	trained(t, c)
	for text, change := range map[string]func(c *config.Train){
		"leave out --cuts_from":          func(c *config.Train) { c.CutsFrom = c.Refit },
		"--refit":                        func(c *config.Train) { c.Refit = t.TempDir() },
		"--max_depth 1":                  func(c *config.Train) { c.MaxDepth = 1 },
		"--min_rows 1000000":             func(c *config.Train) { c.MinRows = 1e6 },
		"which is none of the features:": func(c *config.Train) { c.Ignore = append(c.Ignore, tested(t, c.Refit)) },
	} {
		other := c
		other.Refit, other.Output = c.Output, filepath.Join(t.TempDir(), "refit")
		change(&other)
		if _, err := train.Train(t.Context(), other, nil); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want a usage error with %q", err, text)
		}
	}
}

// tested returns a feature that the tree of a run tests.
func tested(t *testing.T, run string) string {
	t.Helper()
	return readTree(t, run, "tree.json").Features[0].Name
}

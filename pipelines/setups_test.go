package pipelines_test

import (
	"bytes"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
)

// TestSetUps: where groups have prices, trees that count them in other ways stand
// beside the plain ones, which stay the first. They are the same in memory and by
// levels, and say in what way they were grown. Without such groups there are none.
func TestSetUps(t *testing.T) {
	const n = 600
	c := pipelines.DefaultConfig()
	c.Input, c.Label, c.Ignore = []string{newRows(n).write(t, ascending(n), 1, parquetio.WriteOptions{})}, "class", []string{"id", "weight"}
	c.Algorithm, c.Lambda, c.Theta, c.Tests = pipelines.Choices{"ec45", "c45"}, pipelines.Choices{"10"}, pipelines.Choices{"0.005"}, pipelines.Choices{"threshold"}
	c.Folds, c.Certificate, c.FrontierStep, c.Bins = "0", "none", 0, pipelines.Choices{"16"}
	grown := func(costs string) int {
		t.Helper()
		c.Costs, c.Output = costsFile(t, costs), t.TempDir()
		r, err := pipelines.Train(t.Context(), c, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Frontier.Grown
	}
	const groups = "feature,cost,group,group_cost\na,0.5,lab,8\nb,0.5,lab,8\ntwin,1,,\ncolor,1,,\n"
	// By hand: ec45, in four ways, and c45, whose score counts no price.
	if got := grown(groups); got != 5 {
		t.Errorf("%d trees with groups, want 5", got)
	}
	for _, costs := range []string{"feature,cost\na,8\n", "feature,cost,group,group_cost\na,0.5,lab,0\nb,0.5,lab,0\n"} {
		if got := grown(costs); got != 2 {
			t.Errorf("%d trees without prices of groups, want 2", got)
		}
	}
	c.Costs = costsFile(t, groups)
	want := train(t, c)
	if !bytes.Contains(want, []byte(`"set_ups": "`)) {
		t.Error("no tree of the frontier was grown in another way")
	}
	for _, memory := range []int64{0, 40} {
		byLevels := c
		byLevels.MemoryObjects = memory
		if !bytes.Equal(want, train(t, byLevels)) {
			t.Errorf("memory_objects %d: other trees", memory)
		}
	}
	first := c
	first.Select = "first"
	if bytes.Contains(train(t, first), []byte("set_ups")) {
		t.Error("the first tree is not the plain one")
	}
}

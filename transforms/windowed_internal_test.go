package transforms

import (
	"reflect"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tallies"
)

// TestTalliesOfOthers: after an update of a pipeline, tallies of other columns are dropped. Without the digest the tree of
// swapped fields tests the wrong column.
func TestTalliesOfOthers(t *testing.T) {
	type before struct {
		X, Y  float64
		Class string
	}
	spec := func(row any, change func(*settings.Settings)) *tallies.Spec {
		schema, err := rowtype.SchemaOf(reflect.TypeOf(row))
		if err != nil {
			t.Fatal(err)
		}
		s := &tallies.Spec{Settings: settings.Single(), Schema: schema}
		s.Settings.Label = "Class"
		change(&s.Settings)
		if err := s.Bind(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	same := func(*settings.Settings) {}
	now := spec(before{}, same)
	encoder, err := tallies.NewEncoder(now)
	if err != nil {
		t.Fatal(err)
	}
	var tally dataset.Tally
	for i := range 100 {
		if _, _, err := encoder.Encode(before{float64(i), float64(i % 7), []string{"no", "yes"}[i/50]}, 0); err != nil {
			t.Fatal(err)
		}
		tally.Add(encoder.Key)
	}
	b := tally.AppendBinary(now.Digest())
	for name, test := range map[string]struct {
		after *tallies.Spec
		taken bool
	}{
		"the same":          {now, true},
		"another criterion": {spec(before{}, func(s *settings.Settings) { s.Lambda = []float64{3} }), true},
		"another name": {spec(struct {
			X, Y  float64
			Class string
		}{}, same), true},
		"swapped": {spec(struct {
			Y, X  float64
			Class string
		}{}, same), false},
		"more": {spec(struct {
			X, Y, Z float64
			Class   string
		}{}, same), false},
		"a text": {spec(struct {
			X     float64
			Y     string
			Class string
		}{}, same), false},
		"another seed": {spec(before{}, func(s *settings.Settings) { s.Seed++ }), false},
	} {
		f := windowTreeFn{Digest: test.after.Digest()}
		if got := f.own(t.Context(), [][]byte{b}); len(got) == 1 != test.taken {
			t.Errorf("%s: %d tallies are taken", name, len(got))
		}
	}
	for name, b := range map[string][]byte{"with a digest": b, "of an earlier version": b[len(now.Digest()):]} {
		if got := rowsOf(b, len(now.Digest())); got != 100 {
			t.Errorf("%s: %d rows are counted as dropped, want 100", name, got)
		}
	}
}

// TestTiming: a pane of a runner without panes is not taken for an early one.
func TestTiming(t *testing.T) {
	for _, c := range []struct {
		pane typex.PaneInfo
		want string
	}{
		{typex.PaneInfo{}, "unknown"},
		{typex.PaneInfo{IsFirst: true}, "early"},
		{typex.PaneInfo{Index: 1}, "early"},
		{typex.PaneInfo{Timing: typex.PaneOnTime}, "ontime"},
		{typex.PaneInfo{Timing: typex.PaneLate, Index: 2}, "late"},
	} {
		if got := timing(c.pane); got != c.want {
			t.Errorf("%+v: %s, want %s", c.pane, got, c.want)
		}
	}
}

package export_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/longtest"
)

// momentTree returns a tree that asks whether a point in time is at or after a cut; yes is leaf 1.
func momentTree(unit dataset.Unit, zone dataset.Zone, cut float64) *tree.Tree {
	m := &tree.Tree{
		Label:    tree.Label{Column: "after", Classes: []string{"no", "yes"}},
		Features: []dataset.Feature{{Name: "at", Kind: dataset.Numeric, Unit: unit, Zone: zone, Cuts: []float64{cut}, Cost: 1}},
		Nodes: []tree.Node{
			{
				Test:     &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}, Cost: 1},
				Branches: []tree.Branch{{Outcome: 1, Child: 1}, {Child: 2, Missing: true}},
			},
			{Class: 1},
			{},
		},
	}
	for i := range m.Nodes {
		m.Nodes[i].ClassWeights, m.Nodes[i].RawClassWeights = []int64{1, 1}, []int64{1, 1}
		m.Nodes[i].Probabilities = []float64{.5, .5}
	}
	m.Measure()
	return m
}

// TestMoments: languages take points in time as Espalier does, in whatever time zone they run, and refuse
// others: no zone where local timestamps are, no text that only looks like a time. Leaf 1 is at or after
// 2026-03-29T02:30:00.000001, 2026-03-29 or 02:30:00.000001; 0 is a refusal.
func TestMoments(t *testing.T) {
	t.Parallel()
	const micros = 1774751400000001 // date -ud '2026-03-29 02:30' +%s
	trees := map[string]*tree.Tree{
		"utc":   momentTree(dataset.Timestamp, dataset.UTC, micros),
		"local": momentTree(dataset.Timestamp, dataset.Local, micros),
		"date":  momentTree(dataset.Date, dataset.NoZone, 20541),
		"clock": momentTree(dataset.Time, dataset.NoZone, 9000000001),
	}
	cases := map[string][]struct {
		tree, value string
		leaf        int
	}{
		"javascript": {
			{"utc", `"2026-03-29T02:30:00.000001"`, 1},
			{"utc", `"2026-03-29T02:30:00.000000"`, 2},
			{"utc", `"2026-03-29T02:30:00.000001Z"`, 1},
			{"utc", `"2026-03-29 04:30:00.000001+02:00"`, 1},
			{"utc", `"2026-03-29T04:30:00+02:00"`, 2},
			{"utc", `"2026-03-28T21:30:00.000001-0500"`, 1},
			{"utc", `new Date("2026-03-29T02:30:00.001Z")`, 1},
			{"utc", `new Date("soon")`, 0},
			{"utc", `"3/29/2026"`, 0},
			{"utc", `"2026-02-30T00:00"`, 0},
			{"utc", `"2026-03-29T24:00"`, 0},
			{"utc", `"room 2027"`, 0},
			{"local", `"2026-03-29T02:30:00.000001"`, 1},
			{"local", `"2026-03-29T02:30:00.000000"`, 2},
			{"local", `"2026-03-29T02:30:00.000001Z"`, 0},
			{"local", `"2026-03-29T02:30:00+02:00"`, 0},
			{"local", `new Date("2026-03-29T02:30:00.001Z")`, 0},
			{"local", strconv.Itoa(micros), 1},
			{"date", `"2026-03-29"`, 1},
			{"date", `"2026-03-28"`, 2},
			{"date", `"2026-03-29T00:30"`, 1},
			{"date", `"03/30/2026"`, 0},
			{"clock", `"02:30:00.000001"`, 1},
			{"clock", `"02:30"`, 2},
			{"clock", `"2am"`, 0},
			{"clock", `"a:b"`, 0},
			{"clock", `new Date("2026-03-29T02:30:00.001Z")`, 0},
			{"clock", `null`, 2},
		},
		"python": {
			{"utc", `"2026-03-29T02:30:00.000001"`, 1},
			{"utc", `datetime(2026, 3, 29, 2, 30)`, 2},
			{"utc", `datetime(2026, 3, 29, 4, 30, 0, 1, timezone(timedelta(hours=2)))`, 1},
			{"utc", `datetime(2026, 3, 29, 4, 30, 0, 0, timezone(timedelta(hours=2)))`, 2},
			{"utc", `"room 2027"`, 0},
			{"local", `"2026-03-29T02:30:00.000001"`, 1},
			{"local", `datetime(2026, 3, 29, 2, 30)`, 2},
			{"local", `datetime(2026, 3, 29, 4, 30, 0, 1, timezone(timedelta(hours=2)))`, 0},
			{"local", `"2026-03-29T02:30:00+02:00"`, 0},
			{"date", `date(2026, 3, 29)`, 1},
			{"date", `"2026-03-28"`, 2},
			{"clock", `"02:30:00.000001"`, 1},
			{"clock", `"2am"`, 0},
			{"clock", `None`, 2},
		},
	}
	for format, list := range cases {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			if !export.Runs(export.Options{Format: format}) {
				t.Skipf("waits for what runs %s", format)
			}
			contents, command := map[string][]byte{}, "TZ=America/New_York node all.mjs"
			var program strings.Builder
			for name, m := range trees {
				file := "m_" + name + map[string]string{"javascript": ".mjs", "python": ".py"}[format]
				contents[file] = written(t, m, export.Options{Format: format, File: file})
			}
			if format == "python" {
				program.WriteString("from datetime import date, datetime, timedelta, timezone\n")
				command = "TZ=America/New_York python3 -B all.py"
			}
			for name := range trees {
				if format == "python" {
					fmt.Fprintf(&program, "import m_%s\n", name)
				} else {
					fmt.Fprintf(&program, "import * as m_%s from \"./m_%[1]s.mjs\";\n", name)
				}
			}
			var want []string
			for _, c := range list {
				want = append(want, strconv.Itoa(c.leaf))
				if format == "python" {
					fmt.Fprintf(&program, "try: print(m_%s.predict({\"at\": %s}).leaf)\nexcept (TypeError, ValueError): print(0)\n", c.tree, c.value)
				} else {
					fmt.Fprintf(&program, "try { console.log(m_%s.predict({at: %s}).leaf); } catch (e) { console.log(0); }\n", c.tree, c.value)
				}
			}
			contents["all.py"], contents["all.mjs"] = []byte(program.String()), []byte(program.String())
			out, err := run(t, files(t, contents), command)
			got := strings.Fields(out)
			for i, c := range list {
				if err != nil || len(got) != len(want) || got[i] != want[i] {
					t.Errorf("%s, %s: %v, leaves %.600s, want %d", c.tree, c.value, err, out, c.leaf)
					break
				}
			}
		})
	}
	for _, format := range []string{"java", "c"} {
		if slow(format) || !export.Runs(export.Options{Format: format}) {
			continue
		}
		for _, name := range []string{"utc", "local"} {
			verifyOptions(t, trees[name], export.Options{Format: format}, nil)
		}
	}
}

// TestFastMath: C for which a missing value would be a number is no C.
func TestFastMath(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	needs(t, "cc --version", "a C compiler")
	m := momentTree(dataset.Plain, dataset.NoZone, 1)
	folder := files(t, map[string][]byte{"model.c": written(t, m, export.Options{Format: "c"})})
	for _, language := range []string{"cc -std=c99", "cc -x c++"} {
		for flags, refused := range map[string]bool{
			"-O2": false, "-O3 -fno-math-errno -fno-trapping-math": false, "-Ofast": true, "-O0 -ffast-math": true,
			"-ffinite-math-only": true, "-Ofast -fno-finite-math-only -fno-fast-math": false,
		} {
			out, err := run(t, folder, language+" "+flags+" -c -o model.o model.c")
			if refused != (err != nil) || refused && !strings.Contains(out, "they take NAN, a missing value, for a number") {
				t.Errorf("%s %s: %v: %s", language, flags, err, out)
			}
		}
	}
}

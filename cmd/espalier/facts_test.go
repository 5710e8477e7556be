package main_test

import (
	"fmt"
	"html"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// factRows are rows with a column for each use: the class is noisy in x.
func factRows(t *testing.T) string {
	t.Helper()
	const rows = 1200
	r := rand.New(rand.NewPCG(7, 7))
	x, who, day, weight, sure := make([]float64, rows), make([]int64, rows), make([]int64, rows), make([]float64, rows), make([]float64, rows)
	part, class := make([]string, rows), make([]string, rows)
	for i := range rows {
		x[i], who[i], day[i], weight[i] = float64(r.IntN(1000))/1000, int64(i%80), int64(i), 1+r.Float64()
		sure[i] = min(1, max(0, x[i]+r.NormFloat64()*0.2))
		part[i], class[i] = []string{"train", "train", "validation", "test"}[i%4], "b"
		if r.Float64() < sure[i] {
			class[i] = "a"
		}
	}
	return parquet(t, parquetio.WriteOptions{}, column("x", x), column("who", who), column("day", day), column("w", weight),
		column("p_a", sure), column("p_b", repeat(rows, func(i int) float64 { return 1 - sure[i] })), column("part", part), column("y", class))
}

// TestFacts: the page and the model card state the same facts of a run, and none that is false for it.
func TestFacts(t *testing.T) {
	longtest.Skip(t)
	input := factRows(t)
	const (
		byPlace, byDeLong, byValidation = "drawn by a hash of each row's place with seed 1", "DeLong's for AUC, Wilson's for shares", "on validation rows"
		byJackknife, nothing, merit     = "by a jackknife over groups of rows", "there was nothing to choose", "Merit"
		byTime, byKey, byColumn         = "by the time in column day", "drawn by a hash of who with seed 3", "by the column part"
	)
	all := []string{byPlace, byDeLong, byValidation, byJackknife, nothing, merit, byTime, byKey, byColumn}
	base := t.TempDir()
	runs := []struct {
		name  string
		flags []string
		then  []string // arguments of frontier
		wants []string
		lacks []string // in addition to the texts of all that are not wanted
	}{
		{"plain", nil, nil, []string{byPlace, byDeLong, byValidation + " and folds", merit, "shares 70/10/20"}, nil},
		{"time", []string{"--split_time", "day"}, nil, []string{byTime, "a jackknife over blocks of time", byValidation, merit}, []string{"hash"}},
		{"column", []string{"--split_column", "part"}, nil, []string{byColumn, byDeLong, byValidation, merit}, []string{"70/10/20", "hash"}},
		{"key", []string{"--group", "who", "--seed", "3"}, nil, []string{byKey, byJackknife, byValidation, merit, "each the rows with the same who"}, nil},
		{
			"promoted", nil,
			[]string{"--promote", "1"},
			[]string{byPlace, byDeLong, "named by a person", "a person chose the tree from the frontier of the run"},
			[]string{"rule number"},
		},
		{
			"promoted with a key",
			[]string{"--group", "who", "--seed", "3"},
			[]string{"--promote", "1"},
			[]string{byKey, "Intervals: none", "named by a person"},
			nil,
		},
		{
			"limited", nil,
			[]string{"--max_leaves", "3"},
			[]string{byPlace, byDeLong, byValidation + " and folds", merit, "within 3 leaves", "a person chose the tree"},
			nil,
		},
		{
			"one tree",
			[]string{"--preset", "paper", "--certificate", "none"},
			nil,
			[]string{byPlace, byDeLong, "Grew one tree: " + nothing},
			[]string{"Certificate:", "Folds:"},
		},
		{
			"refit",
			[]string{"--refit", filepath.Join(base, "plain")},
			nil,
			[]string{byPlace, byDeLong, "The tests are the tests of the tree of"},
			[]string{"Grew one tree"},
		},
		{"cuts", []string{"--cuts_from", filepath.Join(base, "plain")}, nil, []string{byPlace, byDeLong, byValidation, merit, "with the cuts of the run"}, nil},
		{"weights", []string{"--weight", "w"}, nil, []string{byPlace, byDeLong, byValidation, merit, "Weights of rows: column w", "their weight"}, nil},
		{
			"classes",
			[]string{"--class_weights", "balanced", "--priors", "a=0.9,b=0.1"},
			nil,
			[]string{byPlace, byDeLong, byValidation, merit, "Rows weigh a: ", "for classes as frequent as a: 0.9, b: 0.1"},
			nil,
		},
		{
			"soft",
			[]string{"--label_probabilities", "p_*"},
			nil,
			[]string{byPlace, byDeLong, byValidation, merit, "trees have also learnt from p"},
			nil,
		},
		{
			"folds",
			[]string{"--split", "100/0/0", "--folds", "5"},
			nil,
			[]string{"all rows are training rows", byDeLong, "on the folds", "the training rows themselves", "Folds: 5 folds", merit},
			[]string{"70/10/20"},
		},
	}
	for i := range runs {
		c := &runs[i]
		t.Run(c.name, func(t *testing.T) {
			run, ignore := filepath.Join(base, c.name), "who,day,w,p_a,p_b,part"
			args := append([]string{"train", "--input", input, "--label", "y", "--output", run, "--progress", "none", "--memory", "400MB", "--lambda", "10", "--theta", "0.005"}, c.flags...)
			for flag, column := range map[string]string{"--split_time": "day,", "--weight": "w,", "--label_probabilities": "p_a,p_b,"} {
				if len(c.flags) > 0 && c.flags[0] == flag {
					ignore = strings.ReplaceAll(ignore+",", column, "")
				}
			}
			espalier(t, append(args, "--ignore", strings.Trim(ignore, ","))...).wants(t, 0)
			if c.then != nil {
				promoted := run + " promoted"
				espalier(t, append([]string{"frontier", run, "--output", promoted}, c.then...)...).wants(t, 0)
				run = promoted
			}
			espalier(t, "report", run, "--format", "markdown").wants(t, 0)
			card := strings.ReplaceAll(string(read(t, filepath.Join(run, "model_card.md"))), "**", "")
			page := html.UnescapeString(string(read(t, filepath.Join(run, "report.html"))))
			for medium, text := range map[string]string{"card": card, "page": page} {
				for _, want := range c.wants {
					if medium == "card" {
						want = strings.TrimPrefix(want, "Rows weigh ")
					}
					if !strings.Contains(text, want) {
						t.Errorf("the %s lacks %q:\n%s", medium, want, facts(text))
					}
				}
				for _, lack := range append(c.lacks, all...) {
					wanted := strings.Contains(fmt.Sprint(c.wants), lack)
					if facts := facts(text); !wanted && strings.Contains(facts, lack) {
						t.Errorf("the %s has %q:\n%s", medium, lack, facts)
					}
				}
			}
		})
	}
}

// facts returns the lines of a page or of a card that are facts.
func facts(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "<li>") {
			list = append(list, line)
		}
	}
	return strings.Join(list, "")
}

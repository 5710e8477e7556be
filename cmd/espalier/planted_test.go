package main_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// planted are values of rows that a test looks for in documents, by what a document needs to contain them.
var planted = map[string]runfolder.Values{
	"987654.25":     runfolder.Ends,      // the single highest salary
	"-22944":        runfolder.Ends,      // the single earliest day
	"PLANTEDTOWN":   runfolder.AllValues, // of 20 rows: with --min_rows 50 no tree can test it
	"PLANTEDPERSON": 0,                   // of a column that is left out
	"PLANTEDSECRET": 0,                   // of a setting
}

// TestPlanted: no document contains planted values that docs/files.md does not list for it, and with --min_value_rows
// none contains values of fewer rows.
func TestPlanted(t *testing.T) {
	longtest.Skip(t)
	for _, rows := range []string{"1", "10"} {
		root := t.TempDir()
		plant(t, root, rows)
		seen := make(map[string]bool)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) == "days" {
				return err
			}
			b, err := os.ReadFile(path)
			may := mayContain(path)
			for value, needs := range planted {
				if !strings.Contains(string(b), value) {
					continue
				}
				seen[value] = true
				if rows != "1" && needs&runfolder.Ends != 0 || needs&may == 0 {
					t.Errorf("--min_value_rows %s: %s contains %s, and may contain: %s", rows, path, value, may)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for value, needs := range planted {
			if needs != 0 && rows == "1" && !seen[value] {
				t.Errorf("%s is nowhere: the test looks for the wrong text", value)
			}
		}
	}
}

// mayContain returns the values that a file of a run or of predictions may contain.
func mayContain(path string) runfolder.Values {
	may := runfolder.Values(0)
	for _, d := range runfolder.Documents() {
		name := filepath.Base(path)
		if filepath.Base(filepath.Dir(path)) == "frontier" {
			name = "frontier/" + name
		}
		if ok, err := filepath.Match(strings.ReplaceAll(d.Name, "000", "[0-9][0-9][0-9]"), name); ok && err == nil {
			may |= d.Values
		}
	}
	return may
}

// plant retrains on rows with planted values, and scores them.
func plant(t *testing.T, root, rows string) {
	t.Helper()
	const n = 2000
	salary, age, day := make([]float64, n), make([]float64, n), make([]int32, n)
	name, place, town, class := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	for i := range n {
		salary[i] = 2000 + float64(i*7919%n)
		age[i] = float64(20 + i*31%50)
		day[i] = int32(19000 + i*13%900)
		name[i] = fmt.Sprintf("PLANTEDPERSON%04d", i)
		town[i] = map[bool]string{true: "PLANTEDTOWN", false: "elsewhere"}[i%100 == 7]
		place[i] = fmt.Sprintf("VILLAGE%02d", i*17%40)
		class[i] = map[bool]string{true: "yes", false: "no"}[salary[i]+30*age[i]+float64(day[i]-19000)+float64(i*17%40)*10 > 4600]
	}
	salary[18], day[12] = 987654.25, -22944
	input := filepath.Join(root, "days", "{date}.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), strings.ReplaceAll(input, "{date}", "2026-11-05"), []parquetio.WriteColumn{
		{Name: "salary", Values: salary},
		{Name: "age", Values: age},
		{Name: "day", Values: day},
		{Name: "person", Values: name},
		{Name: "village", Values: place},
		{Name: "town", Values: town},
		{Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	common := []string{
		"--input", input, "--date", "2026-11-05", "--progress", "none", "--notices", filepath.Join(root, "notices.jsonl"), "--engine_options",
		"job_name=PLANTEDSECRET", "--environment_config", `{"command":"/bin/true","env":{"KEY":"PLANTEDSECRET"}}`,
	}
	models := filepath.Join(root, "models")
	espalier(t, append([]string{"retrain"}, append(common, "--label", "class", "--destination", models, "--ignore", "person", "--certificate", "none",
		"--min_rows", "50", "--min_value_rows", rows)...)...).wants(t, 0)
	espalier(t, append([]string{"predict"}, append(common, "--model", filepath.Join(models, "LATEST.json"), "--output", filepath.Join(root, "scored", "{date}"))...)...).wants(t, 0)
	for _, format := range []string{"python", "json", "pmml"} {
		espalier(t, "export", filepath.Join(models, "LATEST.json"), "--format", format, "--output", filepath.Join(root, "export."+format)).wants(t, 0)
	}
}

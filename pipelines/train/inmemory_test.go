package train_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/settings"
	inmemory "github.com/espalier-ml/espalier/induce/train"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// iris and credit are rows of data sets of bench/data, with the columns of their files in order.
type (
	iris struct {
		SepalLength float64 `json:"sepallength"`
		SepalWidth  float64 `json:"sepalwidth"`
		PetalLength float64 `json:"petallength"`
		PetalWidth  float64 `json:"petalwidth"`
		Class       string  `json:"class"`
	}
	credit struct {
		Checking     string  `json:"checking_status"`
		Duration     float64 `json:"duration"`
		History      string  `json:"credit_history"`
		Purpose      string  `json:"purpose"`
		Amount       float64 `json:"credit_amount"`
		Savings      string  `json:"savings_status"`
		Employment   string  `json:"employment"`
		Installments float64 `json:"installment_commitment"`
		Personal     string  `json:"personal_status"`
		Parties      string  `json:"other_parties"`
		Residence    float64 `json:"residence_since"`
		Property     string  `json:"property_magnitude"`
		Age          float64 `json:"age"`
		Plans        string  `json:"other_payment_plans"`
		Housing      string  `json:"housing"`
		Credits      float64 `json:"existing_credits"`
		Job          string  `json:"job"`
		Dependents   float64 `json:"num_dependents"`
		Telephone    string  `json:"own_telephone"`
		Foreign      string  `json:"foreign_worker"`
		Class        string  `json:"class"`
	}
)

// inMemory checks that train.Train gives the bytes of train.Train on a file.
func inMemory[T any](t *testing.T, set string, changes map[string]func(s *settings.Settings)) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "bench", "data", set, "part-00000-of-00001.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	url := filepath.Join(t.TempDir(), "rows.parquet") // see train.Train
	if err := os.WriteFile(url, b, 0o600); err != nil {
		t.Fatal(err)
	}
	rows := readRows[T](t, url)
	for name, change := range changes {
		t.Run(set+" "+name, func(t *testing.T) {
			c := config.DefaultTrain()
			c.Label = "class"
			change(&c.Training)
			tree, report, err := inmemory.Train(t.Context(), rows, c.Training)
			if err != nil {
				t.Fatal(err)
			}
			c.Input, c.Output, c.Report = []string{url}, filepath.Join(t.TempDir(), "run"), "none"
			r, err := train.Train(context.Background(), c, nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(c.Output, "tree.json"))
			if err != nil || string(tree.Encode()) != string(want) {
				t.Errorf("%d nodes in memory, another tree than the tree of %d nodes on a file (%v)", len(tree.Nodes), len(r.Tree.Nodes), err)
			}
			n := 0
			if r.Frontier != nil {
				n = len(r.Frontier.Points)
			}
			if sum := report.Rows[0] + report.Rows[1] + report.Rows[2]; sum != int64(len(rows)) || len(report.Frontier) != n {
				t.Errorf("%d rows and %d trees reported, want %d and %d", sum, len(report.Frontier), len(rows), n)
			}
		})
	}
}

// readRows reads the rows of a Parquet file of one row group.
func readRows[T any](t *testing.T, url string) []T {
	t.Helper()
	f := openFile(t, url)

	columns := reflect.TypeFor[T]()
	var names []string
	for i := range columns.NumField() {
		names = append(names, columns.Field(i).Tag.Get("json"))
	}
	g, err := f.RowGroup(t.Context(), 0, names)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]T, g.Rows())
	for i := range names {
		var v dataset.Vector
		if err := g.ReadColumn(i, &v); err != nil {
			t.Fatal(err)
		}
		for r := range rows {
			at := r
			if v.Index != nil {
				at = int(v.Index[r])
			}
			field := reflect.ValueOf(&rows[r]).Elem().Field(i)
			if v.Type == dataset.Text {
				field.SetString(v.Texts[at])
			} else {
				field.SetFloat(v.Numbers[at])
			}
		}
	}
	return rows
}

// TestInMemory: rows in memory give the tree of the same rows in a file, byte for byte.
func TestInMemory(t *testing.T) {
	longtest.Skip(t)
	inMemory[iris](t, "iris", map[string]func(s *settings.Settings){
		"default": func(*settings.Settings) {},
		"accurate": func(s *settings.Settings) {
			*s = settings.Accurate()
			s.Label = "class"
		},
		"paper": func(s *settings.Settings) {
			*s = settings.Paper()
			s.Label = "class"
		},
		"weights": func(s *settings.Settings) { s.Weight, s.Seed = "petalwidth", 3 },
	})
	inMemory[credit](t, "credit-g", map[string]func(s *settings.Settings){
		"default": func(*settings.Settings) {},
		"costs": func(s *settings.Settings) {
			s.Costs, s.FreeRepeats = map[string]float64{"checking_status": 5, "age": 0}, true
			s.Monotone, s.BalanceClasses = map[string]int8{"duration": -1}, true
			s.Lambda, s.Theta = []float64{10}, []float64{0.005}
		},
		"groups": func(s *settings.Settings) {
			s.Group, s.Folds.Auto, s.Folds.Number = "age", false, 3
			s.Lambda, s.Theta = []float64{10}, []float64{0.005}
		},
		"all rows": func(s *settings.Settings) {
			*s = settings.Single()
			s.Label = "class"
		},
	})
}

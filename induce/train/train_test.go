package train_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/train"
)

// numbered are rows in both forms: maps and structs, with the same values.
func numbered(n int) (maps []map[string]any, structs []Visit) {
	for i := range n {
		class := strconv.FormatBool(i%10 > 3)
		maps = append(maps, map[string]any{"age": float64(i % 10), "smoker": i%2 == 0, "class": class, "id": i})
		structs = append(structs, Visit{Age: new(float64(i % 10)), Smoker: i%2 == 0, Class: class})
	}
	return maps, structs
}

// TestMaps: maps give the tree of structs with the same columns, and their keys are the columns. Parts follow
// the positions of the rows.
func TestMaps(t *testing.T) {
	s := settings.Default()
	s.Label, s.Ignore = "class", []string{"id"}
	maps, structs := numbered(500)
	a, report, err := train.Train(t.Context(), maps, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Ignore = nil
	b, _, err := train.Train(t.Context(), structs, s)
	if err != nil || string(a.Encode()) != string(b.Encode()) {
		t.Errorf("maps and structs give different trees (%v)", err)
	}
	if report.Rows[dataset.Train] < 300 || report.Rows[dataset.Validation] < 20 || report.Rows[dataset.Test] < 60 || len(report.Frontier) == 0 {
		t.Errorf("report %+v, want 500 rows by shares of 70/10/20 and a frontier", report)
	}
}

// TestRefusals: all settings that do not fit are named, and so is the row that cannot be used.
func TestRefusals(t *testing.T) {
	maps, structs := numbered(20)
	s := settings.Single()
	s.Label, s.Theta, s.Ignore, s.First = "class", []float64{2}, []string{"size"}, []string{"weight"}
	_, _, err := train.Train(t.Context(), structs, s)
	for _, want := range []string{"Theta 2: want a number from 0 to 1", `column "size"`, `"weight" is not a feature`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s = settings.Single()
	s.Label = "class"
	if _, _, err = train.Train(t.Context(), []int{1}, s); err == nil {
		t.Error("rows that are numbers are taken")
	}
	for want, change := range map[string]func(rows []map[string]any, s *settings.Settings) []map[string]any{
		"row 7: ": func(rows []map[string]any, _ *settings.Settings) []map[string]any {
			rows[7]["class"] = nil
			return rows
		},
		"no row is left for training": func(rows []map[string]any, s *settings.Settings) []map[string]any {
			s.Split = dataset.Shares{1, 1 << 20, 0}
			return rows
		},
		"Split 0/1/1: the training part": func(rows []map[string]any, s *settings.Settings) []map[string]any {
			s.Split = dataset.Shares{0, 1, 1}
			return rows
		},
		"check the labels": func(rows []map[string]any, s *settings.Settings) []map[string]any {
			s.DropNullLabels = true
			for _, row := range rows {
				row["class"] = nil
			}
			return rows
		},
		"there are no rows": func([]map[string]any, *settings.Settings) []map[string]any { return nil },
		"no field that may be tested": func([]map[string]any, *settings.Settings) []map[string]any {
			return []map[string]any{{"class": "a"}}
		},
		`Priors: the label has no class "other"`: func(rows []map[string]any, s *settings.Settings) []map[string]any {
			s.Priors = map[string]float64{"other": 1}
			return rows
		},
	} {
		rows, _ := numbered(20)
		c := s
		if _, _, err := train.Train(t.Context(), change(rows, &c), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, nilRow := range []error{trainNil(t, structs, s), trainNil(t, maps, s)} {
		var e *dataset.DataError
		if !errors.As(nilRow, &e) || !strings.HasPrefix(nilRow.Error(), "row 1: a nil row of type *") {
			t.Errorf("%v, want an error for row 1", nilRow)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = settings.Default()
	s.Label, s.Algorithm = "class", []split.Algorithm{split.C45}
	if _, _, err := train.Train(ctx, maps, s); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled training: %v", err)
	}
}

// trainNil returns the error for a nil pointer after the pointer to a row.
func trainNil[T any](t *testing.T, rows []T, s settings.Settings) error {
	t.Helper()
	_, _, err := train.Train(t.Context(), []*T{&rows[0], nil}, s)
	return err
}

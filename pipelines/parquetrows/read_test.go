package parquetrows_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //nolint:staticcheck // the embedded default
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/parquetrows"
)

// TestMain runs the tests on prism, which serialises, unless --runner says otherwise.
func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

// Visit is a row, with fewer columns than the files have.
type Visit struct {
	ID     int64    `json:"id"`
	Age    *float64 `json:"age"`
	Ward   *string  `json:"ward"`
	Smoker bool     `json:"smoker"`
}

var read struct {
	sync.Mutex

	rows []Visit
}

type noteFn struct{}

func (*noteFn) ProcessElement(v Visit) {
	read.Lock()
	defer read.Unlock()
	read.rows = append(read.rows, v)
}

func init() {
	beam.RegisterType(reflect.TypeFor[Visit]())
	beam.RegisterDoFn(reflect.TypeFor[noteFn]())
}

// visits returns rows, and writes them to two files of several row groups.
func visits(t *testing.T) (rows []Visit, folder string) {
	t.Helper()
	for i := range 100 {
		v := Visit{ID: int64(i), Smoker: i%3 == 0}
		if i%7 > 0 {
			age, ward := float64(i)/2, fmt.Sprintf("ward %d", i%5)
			v.Age, v.Ward = &age, &ward
		}
		rows = append(rows, v)
	}
	folder = t.TempDir()
	for f := range 2 {
		part := rows[f*60 : min(100, f*60+60)]
		var ids []int64
		var ages []*float64
		var wards []*string
		var smokers []bool
		for i := range part {
			ids, ages = append(ids, part[i].ID), append(ages, part[i].Age)
			wards, smokers = append(wards, part[i].Ward), append(smokers, part[i].Smoker)
		}
		columns := []parquetio.WriteColumn{
			{Name: "smoker", Values: smokers},
			{Name: "other", Values: ids},
			{Name: "age", Values: ages},
			{Name: "ward", Values: wards, Encoding: parquetio.Dictionary},
			{Name: "id", Values: ids},
		}
		url := filepath.Join(folder, fmt.Sprintf("%d.parquet", f))
		err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{RowsPerGroup: 16})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows, folder
}

// TestRead: each row comes once, as it was written.
func TestRead(t *testing.T) {
	want, folder := visits(t)
	for _, runner := range []string{"direct", "prism"} {
		read.rows = nil
		p, s := beam.NewPipelineWithRoot()
		beam.ParDo0(s, &noteFn{}, parquetrows.Read[Visit](s, folder))
		if _, err := beam.Run(t.Context(), runner, p); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(read.rows, func(a, b Visit) int { return cmp.Compare(a.ID, b.ID) })
		if diff := gocmp.Diff(want, read.rows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", runner, diff)
		}
	}
}

// TestReadFaults: fields that do not fit the files are told when the pipeline is built, and
// values that do not fit their field by their row group.
func TestReadFaults(t *testing.T) {
	_, folder := visits(t)
	type unfit struct {
		Age    string  `json:"age"` // a number may be spelled
		Ward   float64 `json:"ward"`
		Smoker bool    `json:"smokes"`
	}
	_, s := beam.NewPipelineWithRoot()
	_, err := parquetrows.TryRead[unfit](s, folder)
	for _, want := range []string{`column "ward" of the files has texts, the field takes numbers`, `no column for the field of "smokes"`} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), `"age" of`) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := parquetrows.TryRead[Visit](s, folder+"/none-*.parquet"); err == nil {
		t.Error("no file: no error")
	}
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &noteFn{}, parquetrows.Read[Visit](s, folder))
	parquetrows.Read[narrow](s, folder)
	if _, err := beam.Run(t.Context(), "direct", p); err == nil || !strings.Contains(err.Error(), `"ward"`) ||
		!strings.Contains(err.Error(), "make the field a pointer") || !strings.Contains(err.Error(), "parquet") {
		t.Errorf("a null for a string: %v", err)
	}
}

// narrow is a row without room for nulls.
type narrow struct {
	Ward string `json:"ward"`
}

func init() { beam.RegisterType(reflect.TypeFor[narrow]()) }

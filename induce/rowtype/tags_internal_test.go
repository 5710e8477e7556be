package rowtype

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// tagCases lists tags with what each says of its column.
func tagCases() map[string]fieldTag {
	const ns, us, ms, day = time.Nanosecond, time.Microsecond, time.Millisecond, 24 * time.Hour
	return map[string]fieldTag{
		``:                                            {tick: ns},
		`json:"age"`:                                  {name: "age", tick: ns},
		`json:"age,omitempty"`:                        {name: "age", tick: ns},
		`json:",omitempty"`:                           {tick: ns},
		`json:"-"`:                                    {skip: true, tick: ns},
		`json:"-,"`:                                   {name: "-", tick: ns},
		`json:"a=b"`:                                  {name: "a=b", tick: ns},
		`beam:"age" json:"other"`:                     {name: "age", tick: ns},
		`bigquery:"age,nullable" json:"other"`:        {name: "age", tick: ns},
		`parquet:"-" json:"age"`:                      {skip: true, tick: ns},
		`espalier:"age" parquet:"-"`:                  {name: "age", tick: ns},
		`espalier:"-" json:"age"`:                     {skip: true, tick: ns},
		`espalier:",date" json:"day"`:                 {name: "day", tick: day, unit: dataset.Date},
		`espalier:"d" parquet:"day,date"`:             {name: "d", tick: day, unit: dataset.Date},
		`parquet:"age,optional,snappy"`:               {name: "age", tick: ns},
		`parquet:",optional" json:"age"`:              {name: "age", tick: ns},
		`parquet:"updated,optional"`:                  {name: "updated", tick: ns},
		`parquet:"at,timestamp"`:                      {name: "at", tick: ms, unit: dataset.Timestamp},
		`parquet:"at,timestamp(microsecond:utc)"`:     {name: "at", tick: us, unit: dataset.Timestamp},
		`parquet:"price,decimal(2:9)"`:                {name: "price", tick: ns, scale: 2},
		`parquet:"name=age, type=INT64"`:              {name: "age", tick: ns},
		`parquet:"type=INT64" json:"age"`:             {name: "age", tick: ns},
		`espalier:"age" parquet:"name=a, type=INT64"`: {name: "age", tick: ns},

		`espalier:"d,timestamp(microsecond)" parquet:"day,date"`: {
			name: "d", tick: us, unit: dataset.Timestamp,
		},
		`parquet:"at,optional,timestamp(nanosecond:local)"`: {
			name: "at", tick: ns, unit: dataset.Timestamp,
		},
		`parquet:"type=INT64,Name = age , encoding=PLAIN"`: {
			name: "age", tick: ns,
		},
		`parquet:"name=name, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`: {
			name: "name", tick: ns,
		},
		`parquet:"name=day, type=INT32, convertedtype=DATE"`: {
			name: "day", tick: day, unit: dataset.Date,
		},
		`parquet:"name=at, type=INT64, convertedtype=TIMESTAMP_MILLIS"`: {
			name: "at", tick: ms, unit: dataset.Timestamp,
		},
		`parquet:"name=at, type=INT64, logicaltype=TIMESTAMP, logicaltype.unit=MICROS"`: {
			name: "at", tick: us, unit: dataset.Timestamp,
		},
		`parquet:"name=at, type=INT64, logicaltype=TIMESTAMP, logicaltype.unit=NANOS"`: {
			name: "at", tick: ns, unit: dataset.Timestamp,
		},
		`parquet:"name=price, type=INT64, convertedtype=DECIMAL, scale=2, precision=9"`: {
			name: "price", tick: ns, scale: 2,
		},
		`parquet:"name=price, type=INT64, logicaltype=DECIMAL, logicaltype.scale=3, logicaltype.precision=9"`: {
			name: "price", tick: ns, scale: 3,
		},
	}
}

// TestTags: the tags of fields by hand, as encoding/json, parquet-go v0.32 and
// Beam's parquetio (xitongsys/parquet-go v1.6) document them.
func TestTags(t *testing.T) {
	for tag, want := range tagCases() {
		got := parseTag(&reflect.StructField{Name: "F", Tag: reflect.StructTag(tag)})
		if got != want {
			t.Errorf("%s: %+v, want %+v", tag, got, want)
		}
	}
}

type person struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type deepest struct {
	Price int32 `parquet:"name=price, type=INT32, convertedtype=DECIMAL, scale=2, precision=9"`
	Deep  bool
}

type sensor struct {
	person
	*deepest

	ID     string `json:"id"` // hides person.ID
	Age    **int32
	hidden int        `espalier:"hidden"` //nolint:unused // a tag without effect is what is tested
	Skip   int        `json:"-"`
	When   *time.Time `parquet:"name=when, type=INT32, convertedtype=DATE"`
	List   []int
	Any    any
}

// TestColumnsOfStructs lists the fields of a struct that become columns, with their values.
func TestColumnsOfStructs(t *testing.T) {
	schema, err := SchemaOf(reflect.TypeFor[sensor]())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"name", "price", "Deep", "id", "Age", "hidden", "when", "List", "Any"},
		schema.Names()); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	for _, name := range []string{"hidden", "List"} {
		if _, err := schema.Column(name); err == nil {
			t.Errorf("column %q can be read", name)
		}
	}
	reader, err := schema.Reader([]string{"name", "price", "Deep", "id", "Age", "when", "Any"})
	if err != nil {
		t.Fatal(err)
	}
	age, at := int32(7), time.Date(1970, 1, 3, 23, 0, 0, 0, time.UTC)
	pointer := &age
	for _, test := range []struct {
		row  sensor
		want []string
	}{
		{
			sensor{person: person{1, "Ada"}, deepest: &deepest{1999, true}, ID: "a", Age: &pointer, When: &at, Any: 2.5},
			[]string{"Ada", "19.99", "true", "a", "7", "2", "2.5"},
		},
		{sensor{ID: "b"}, []string{"", "missing", "missing", "b", "missing", "missing", "missing"}},
	} {
		cells, err := reader.Read(test.row, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range cells {
			text := cells[i].Spell()
			if cells[i].Type == 0 {
				text = "missing"
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("cells of %+v (-want +got):\n%s", test.row, diff)
		}
	}
}

// TestOddStructs: fields of one name, and a struct within itself.
func TestOddStructs(t *testing.T) {
	type twice struct {
		person
		Ward struct{}
		Same string `json:"name"`
		Also string `espalier:"name"`
	}
	if _, err := SchemaOf(reflect.TypeFor[twice]()); err == nil {
		t.Error("two fields of a depth have one name: no error")
	}
	type itself struct {
		*itself //nolint:unused // what is tested

		A int
	}
	if s, err := SchemaOf(reflect.TypeFor[itself]()); err != nil || len(s.Names()) != 1 {
		t.Errorf("a struct that embeds a pointer to itself: %v", err)
	}
}

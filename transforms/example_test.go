package transforms_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
)

// Fruit is a row. A tag names the column. A pointer is a value that may be missing.
type Fruit struct {
	Name  string   `json:"name"`
	Grams *float64 `json:"grams"`
	Color string   `json:"color"`
	Class string   `json:"class"`
}

func init() {
	beam.RegisterType(reflect.TypeFor[Fruit]())
	beam.RegisterDoFn(reflect.TypeFor[printPrediction]())
	beam.RegisterDoFn(reflect.TypeFor[printTree]())
	beam.RegisterDoFn(reflect.TypeFor[printWindow]())
	beam.RegisterDoFn(reflect.TypeFor[printFruit]())
	beam.RegisterDoFn(reflect.TypeFor[pick]())
	beam.RegisterType(reflect.TypeFor[Basket]())
	beam.RegisterDoFn(reflect.TypeFor[printBasket]())
	beam.RegisterDoFn(reflect.TypeFor[printLetter]())
	register.Emitter2[beam.EventTime, Fruit]()
}

func fruit() []Fruit {
	grams := func(x float64) *float64 { return &x }
	return []Fruit{
		{"granny", grams(170), "green", "apple"},
		{"gala", grams(150), "red", "apple"},
		{"fuji", grams(190), "red", "apple"},
		{"bing", grams(8), "red", "cherry"},
		{"rainier", grams(9), "yellow", "cherry"},
		{"morello", nil, "red", "cherry"},
	}
}

func fruitConfig() transforms.TrainConfig {
	c := transforms.SingleTrainConfig("class")
	c.Features = []string{"grams", "color"}
	return c
}

// printTree, printPrediction and printWindow print the results of the examples.
type printTree struct{}

func (*printTree) ProcessElement(encoded []byte) error {
	fruitModel = encoded
	_, err := fmt.Fprintln(os.Stdout, "a tree.json of model", transforms.ModelID(encoded))
	return err
}

// fruitModel is the tree that printTree was given.
var fruitModel []byte

type printPrediction struct{}

func (*printPrediction) ProcessElement(f Fruit, p transforms.Prediction) error {
	_, err := fmt.Fprintf(os.Stdout, "%s: %s, after %d test\n", f.Name, p.Class, p.Tests)
	return err
}

type printWindow struct{}

func (*printWindow) ProcessElement(t transforms.WindowTree) error {
	_, err := fmt.Fprintln(os.Stdout, time.UnixMilli(t.Start).UTC().Format(time.TimeOnly), t.Rows, "rows")
	return err
}

// pick gives each fruit a time, one minute after the fruit before.
type pick struct{}

func (*pick) ProcessElement(f Fruit, emit func(beam.EventTime, Fruit)) {
	for i, other := range fruit() {
		if other.Name == f.Name {
			emit(beam.EventTime(i*60_000), f)
		}
	}
}

func Example() {
	// Train: rows to a tree.json.
	p, s := beam.NewPipelineWithRoot()
	trained := transforms.Train(s, beam.CreateList(s, fruit()), fruitConfig())
	beam.ParDo0(s, &printTree{}, trained.Trees)
	if _, err := beam.Run(context.Background(), "direct", p); err != nil {
		fmt.Println(err)
	}

	// Score: rows to KV<Fruit, Prediction>.
	p, s = beam.NewPipelineWithRoot()
	scored := transforms.Score(s, beam.CreateList(s, fruit()), transforms.Model{JSON: fruitModel})
	beam.ParDo0(s, &printPrediction{}, scored.Predictions)
	if _, err := beam.Run(context.Background(), "direct", p); err != nil {
		fmt.Println(err)
	}
	// Output:
	// a tree.json of model 78bf308e7f805fd4
	// granny: apple, after 1 test
	// gala: apple, after 1 test
	// fuji: apple, after 1 test
	// bing: cherry, after 1 test
	// rainier: cherry, after 1 test
	// morello: cherry, after 1 test
}

// Trees of a pipeline score rows of the same pipeline. Rows that cannot be used, here because a
// weight is not a number, are emitted separately.
func ExampleDeadLetters() {
	p, s := beam.NewPipelineWithRoot()
	trained := transforms.Train(s, beam.CreateList(s, fruit()), fruitConfig())
	baskets := beam.CreateList(s, []Basket{{"name": "braeburn", "grams": 180}, {"name": "sour", "grams": "heavy"}})
	scored := transforms.Score(s, baskets, transforms.Model{Trees: trained.Trees}, transforms.DeadLetters{Limit: 1000})
	beam.ParDo0(s, &printBasket{}, scored.Predictions)
	beam.ParDo0(s, &printLetter{}, scored.DeadLetters)
	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// braeburn: apple of ["apple" "cherry"]
	// {"grams":"heavy","name":"sour"}: grams: not a number, as the feature needs
}

// Basket is a row as it comes from JSON.
type Basket map[string]any

type printBasket struct{}

func (*printBasket) ProcessElement(b Basket, p transforms.Prediction) error {
	_, err := fmt.Fprintf(os.Stdout, "%s: %s of %q\n", b["name"], p.Class, p.Classes)
	return err
}

type printLetter struct{}

func (*printLetter) ProcessElement(d transforms.DeadLetter) error {
	_, err := fmt.Fprintf(os.Stdout, "%s: %s: %s\n", d.Row, d.Column, d.Reason)
	return err
}

// Order is a row as a table with records and repeated fields has it, such as one of BigQuery.
type Order struct {
	Customer Customer `bigquery:"customer"`
	Items    []Item   `bigquery:"items"`
	Returned string   `bigquery:"returned"`
}

// Customer is a record of an order.
type Customer struct {
	Country string `bigquery:"country"`
	Orders  int64  `bigquery:"orders"`
}

// Item is an element of the repeated field of an order.
type Item struct {
	Price    float64 `bigquery:"price"`
	Category string  `bigquery:"category"`
}

// FlatOrder is an order with a column for each value that a tree may test. The fields of an embedded struct are columns.
type FlatOrder struct {
	Customer

	Items    int     `bigquery:"items"`
	Total    float64 `bigquery:"total"`
	MainItem string  `bigquery:"main_item"` // category of the most expensive item
	Returned string  `bigquery:"returned"`
}

// flatten makes columns of the repeated field: a count, a sum and the category of the most expensive item.
func flatten(o Order) FlatOrder {
	flat := FlatOrder{Customer: o.Customer, Items: len(o.Items), Returned: o.Returned}
	most := 0.0
	for _, item := range o.Items {
		flat.Total += item.Price
		if item.Price > most {
			most = item.Price
			flat.MainItem = item.Category
		}
	}
	return flat
}

func init() {
	beam.RegisterType(reflect.TypeFor[Order]())
	beam.RegisterType(reflect.TypeFor[FlatOrder]())
	beam.RegisterFunction(flatten)
	beam.RegisterFunction(printTests)
}

func printTests(encoded []byte) error {
	t, err := tree.Decode(encoded)
	if err == nil {
		_, err = fmt.Fprintln(os.Stdout, "the tree tests", t.Features[0].Name)
	}
	return err
}

// Nested rows are flattened before they train: a function makes a column of each value that a tree may test. Try returns
// the error of rows that are not flat.
func ExampleTry() {
	p, s := beam.NewPipelineWithRoot()
	orders := beam.Create(s,
		Order{Customer{"DE", 3}, []Item{{20, "shoes"}, {5, "socks"}}, "yes"}, Order{Customer{"FR", 1}, []Item{{30, "shoes"}}, "yes"},
		Order{Customer{"DE", 1}, []Item{{30, "books"}, {4, "socks"}}, "no"}, Order{Customer{"FR", 4}, nil, "no"})
	train := func(rows beam.PCollection) (transforms.Trained, error) {
		c := transforms.SingleTrainConfig("returned")
		return transforms.Try(func() transforms.Trained { return transforms.Train(s, rows, c) })
	}
	_, err := train(orders)
	fmt.Println(err)
	trained, err := train(beam.ParDo(s, flatten, orders))
	if err != nil {
		fmt.Println(err)
	}
	beam.ParDo0(s, printTests, trained.Trees)
	if _, err := beam.Run(context.Background(), "direct", p); err != nil {
		fmt.Println(err)
	}
	// Output:
	// transforms.Train: rows of type transforms_test.Order: the field of column "customer" cannot be read: its type is transforms_test.Customer, want a number, a string, a bool, a time.Time, or a pointer to one; make columns of its values, or leave it out
	// rows of type transforms_test.Order: the field of column "items" cannot be read: its type is []transforms_test.Item, want a number, a string, a bool, a time.Time, or a pointer to one; make columns of its values, or leave it out
	// the tree tests main_item
}

// A tree for every three minutes of rows.
func ExampleWindowedTree() {
	p, s := beam.NewPipelineWithRoot()
	rows := beam.ParDo(s, &pick{}, beam.CreateList(s, fruit()))
	trained := transforms.WindowedTree(s, rows, transforms.WindowConfig{
		TrainConfig: fruitConfig(), Windows: window.NewFixedWindows(3 * time.Minute),
	})
	beam.ParDo0(s, &printWindow{}, trained.Trees)
	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// 00:00:00 3 rows
	// 00:03:00 3 rows
}

// The tree of the first three minutes scores the rows of the next three.
func ExampleModel_latest() {
	p, s := beam.NewPipelineWithRoot()
	rows := beam.ParDo(s, &pick{}, beam.CreateList(s, fruit()))
	trained := transforms.WindowedTree(s, rows, transforms.WindowConfig{
		TrainConfig: fruitConfig(), Windows: window.NewFixedWindows(3 * time.Minute),
	})
	scored := transforms.Score(s, rows, transforms.Model{Trees: trained.Trees, Latest: true, Unscored: true})
	beam.ParDo0(s, &printPrediction{}, scored.Predictions)
	beam.ParDo0(s, &printFruit{}, scored.Unscored)
	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// granny: no tree yet
	// gala: no tree yet
	// fuji: no tree yet
	// bing: apple, after 0 test
	// rainier: apple, after 0 test
	// morello: apple, after 0 test
}

type printFruit struct{}

func (*printFruit) ProcessElement(f Fruit) error {
	_, err := fmt.Fprintf(os.Stdout, "%s: no tree yet\n", f.Name)
	return err
}

package publish_test

import (
	"context"
	"fmt"
	"os"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/pipelines/publish"
	"github.com/espalier-ml/espalier/transforms"
)

// Patient is a row.
type Patient struct {
	ID      int64  `json:"id"`
	Fever   int64  `json:"fever"`
	Outcome string `json:"outcome"`
}

// printFn prints outcomes.
type printFn struct{}

func (*printFn) ProcessElement(o publish.Outcome) {
	fmt.Printf("%s: %s, %d rows, AUC %.2f\n", o.Date, o.Outcome, o.Rows, *o.AUC)
}

func init() {
	beam.RegisterType(reflect.TypeFor[Patient]())
	beam.RegisterDoFn(reflect.TypeFor[printFn]())
}

// A nightly training as one Beam job: it trains a tree, compares it with the tree in use, and puts it in use.
func Example() {
	destination, err := os.MkdirTemp("", "trees")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(destination) //nolint:errcheck // a temporary folder
	ctx := context.Background()
	night, err := publish.Open(ctx, publish.Default(destination, "2026-11-29"))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, s := beam.NewPipelineWithRoot()
	var patients []Patient
	for i := range int64(1000) {
		patient := Patient{ID: i, Fever: 36 + i%5, Outcome: "well"}
		if patient.Fever > 38 {
			patient.Outcome = "ill"
		}
		patients = append(patients, patient)
	}
	trained := transforms.Train(s, beam.CreateList(s, patients), transforms.DefaultTrainConfig("outcome", "id"), night.Reports())
	beam.ParDo0(s, &printFn{}, night.Publish(s, trained))
	if _, err := beam.Run(ctx, "direct", p); err != nil {
		fmt.Println(err)
	}
	// Output: 2026-11-29: promoted, 1000 rows, AUC 1.00
}

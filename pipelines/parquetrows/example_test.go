package parquetrows_test

import (
	"context"
	"fmt"
	"os"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/pipelines/parquetrows"
	"github.com/espalier-ml/espalier/transforms"
)

// Position is a row of the README's example.
type Position struct {
	Middle string `json:"middle_middle"`
	Corner string `json:"top_left"`
	Class  string `json:"class"`
}

type countFn struct{}

func (*countFn) ProcessElement(encoded []byte) error {
	_, err := fmt.Fprintln(os.Stdout, "a tree of", len(transforms.ModelID(encoded)), "digits")
	return err
}

func init() {
	beam.RegisterType(reflect.TypeFor[Position]())
	beam.RegisterDoFn(reflect.TypeFor[countFn]())
}

// A tree is trained on two columns of a Parquet file.
func Example() {
	p, s := beam.NewPipelineWithRoot()
	rows := parquetrows.Read[Position](s, "../../cmd/espalier/example/tic-tac-toe.parquet")
	beam.ParDo0(s, &countFn{}, transforms.Train(s, rows, transforms.SingleTrainConfig("class")).Trees)
	if _, err := beam.Run(context.Background(), "direct", p); err != nil {
		fmt.Println(err)
	}
	// Output:
	// a tree of 16 digits
}

package transforms

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// The DoFns of jobs share three signatures: see the package comment.
func init() {
	register.DoFn3x1[context.Context, []byte, func(int64, []byte), error](&summariseFn{})
	register.DoFn3x1[context.Context, []byte, func(int64, []byte), error](&coalesceFn{})
	register.DoFn3x1[context.Context, []byte, func(int64, []byte), error](&gatherFn{})
	register.DoFn3x1[context.Context, []byte, func(int64, []byte), error](&levelFn{})
	register.DoFn3x1[context.Context, []byte, func(int64, []byte), error](&evaluateFn{})
	register.DoFn3x1[context.Context, []byte, func(int64, []byte), error](&predictFn{})
	register.DoFn3x1[context.Context, int64, func(*[]byte) bool, error](&mergeSummariesFn{})
	register.DoFn3x1[context.Context, int64, func(*[]byte) bool, error](&mergeObjectsFn{})
	register.DoFn3x1[context.Context, int64, func(*[]byte) bool, error](&growFn{})
	register.DoFn3x1[context.Context, int64, func(*[]byte) bool, error](&mergeCountsFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&mergeLevelFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&advanceFn{})
	register.Emitter2[int64, []byte]()
	register.Iter1[[]byte]()
}

// Those of the transforms for other pipelines have two more, for what is called
// for each row. What is called once for a shard or a pane is found by reflection,
// which takes microseconds: the six parameters of windowTreeFn alone would add
// half a minute to the build.
func init() {
	register.DoFn3x1[context.Context, beam.T, func(beam.T, Prediction), error](&scoreFn{})
	register.DoFn4x1[context.Context, beam.EventTime, beam.T, func(beam.EventTime, int64, []byte), error](&tallyFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&fitFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&codeTallyFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&growObjectsFn{})
	beam.RegisterDoFn(reflect.TypeFor[summariseTallyFn]())
	beam.RegisterDoFn(reflect.TypeFor[tagFn]())
	beam.RegisterDoFn(reflect.TypeFor[windowTreeFn]())
	register.Combiner3[tallies, []byte, []byte](&mergeTalliesFn{})
	register.Emitter2[beam.T, Prediction]()
	register.Emitter3[beam.EventTime, int64, []byte]()
	register.Emitter1[WindowTree]()
	beam.RegisterCoder(reflect.TypeFor[tallies](), encodeTallies, decodeTallies)
	beam.RegisterType(reflect.TypeFor[Prediction]())
	beam.RegisterType(reflect.TypeFor[WindowTree]())
}

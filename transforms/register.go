package transforms

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/espalier-ml/espalier/induce/metric"
)

// Most DoFns are registered by their type alone: transforms/jobs/registration.go says
// why.
func init() {
	for _, t := range []reflect.Type{
		reflect.TypeFor[summariseTallyFn](), reflect.TypeFor[weighTallyFn](), reflect.TypeFor[unitsFn](),
		reflect.TypeFor[summariseWeighedFn](), reflect.TypeFor[fitFn](), reflect.TypeFor[mergeColumnFn](), reflect.TypeFor[codeTallyFn](),
		reflect.TypeFor[growObjectsFn](), reflect.TypeFor[measureFn](), reflect.TypeFor[reportFn](),
		reflect.TypeFor[noRowsFn](), reflect.TypeFor[windowTreeFn](),
		reflect.TypeFor[scoreFn](), reflect.TypeFor[scoreKeyedFn](), reflect.TypeFor[packFn](),
		reflect.TypeFor[packKeyedFn](), reflect.TypeFor[inWindowFn](), reflect.TypeFor[inWindowKeyedFn](), reflect.TypeFor[packWindowsFn](),
		reflect.TypeFor[scorePacksFn](), reflect.TypeFor[numberTreeFn](), reflect.TypeFor[numberWindowTreeFn](),
		reflect.TypeFor[shardPacksFn](), reflect.TypeFor[copyTreesFn](), reflect.TypeFor[findTreesFn](), reflect.TypeFor[findTreesStreamFn](),
		reflect.TypeFor[scoreFoundFn](), reflect.TypeFor[unpackFn](), reflect.TypeFor[unpackKeyedFn](),
		reflect.TypeFor[countFn](), reflect.TypeFor[metricsFn](), reflect.TypeFor[countPacksFn](), reflect.TypeFor[metricsByTreesFn](),
		reflect.TypeFor[tallyFn](), reflect.TypeFor[oneFn](), reflect.TypeFor[limitFn](),
	} {
		beam.RegisterDoFn(t)
	}
	register.Combiner3[tallyMerger, []byte, []byte](&mergeTalliesFn{})
	register.Combiner1[int64](&addFn{})
	register.Combiner1[[]byte](&mergeCountsFn{})
	register.Emitter2[beam.T, Prediction]()
	register.Emitter2[beam.X, Prediction]()
	register.Emitter3[beam.EventTime, beam.T, Prediction]()
	register.Emitter2[beam.EventTime, DeadLetter]()
	register.Emitter2[beam.EventTime, []byte]()
	register.Emitter1[[]byte]()
	register.Emitter1[DeadLetter]()
	register.Iter1[[]byte]()
	register.Emitter3[beam.EventTime, int64, []byte]()
	register.Emitter1[WindowTree]()
	register.Emitter1[RefusedWindow]()
	register.Emitter3[beam.EventTime, []byte, []byte]()
	register.Emitter2[beam.EventTime, beam.T]()
	register.Emitter3[beam.EventTime, beam.X, beam.T]()
	beam.RegisterCoder(reflect.TypeFor[tallyMerger](), encodeTallies, decodeTallies)
	beam.RegisterType(reflect.TypeFor[Prediction]())
	beam.RegisterType(reflect.TypeFor[WindowTree]())
	beam.RegisterType(reflect.TypeFor[RefusedWindow]())
	beam.RegisterType(reflect.TypeFor[DeadLetter]())
	register.Emitter1[Report]()
	beam.RegisterCoder(reflect.TypeFor[Report](), encodeReport, decodeReport)
	beam.RegisterCoder(reflect.TypeFor[metric.Metrics](), encodeMetrics, decodeMetrics)
}

// The DoFns that see each row are called without reflection: a reflective call costs
// more than scoring the row.
func init() {
	direct(func(f *scoreFn) reflectx.Func { return call5(f.ProcessElement) })
	direct(func(f *tallyFn) reflectx.Func { return call5(f.ProcessElement) })
	direct(func(f *packFn) reflectx.Func { return call3(f.ProcessElement) })
	direct(func(f *inWindowFn) reflectx.Func { return call3(f.ProcessElement) })
	direct(func(f *packWindowsFn) reflectx.Func { return call3(f.ProcessElement) })
}

// direct registers the function that calls the ProcessElement of a DoFn.
func direct[F any](process func(*F) reflectx.Func) {
	reflectx.RegisterStructWrapper(reflect.TypeFor[F](), func(fn any) map[string]reflectx.Func {
		return map[string]reflectx.Func{"ProcessElement": process(fn.(*F))} //nolint:errcheck // Beam has looked at the type
	})
}

// called3 and called5 call functions without reflection: they are a reflectx.Func3x1 and a Func5x1.
type called3[A, B, C any] struct {
	reflectx.Func

	f func(A, B, C) error
}

func call3[A, B, C any](f func(A, B, C) error) reflectx.Func {
	return called3[A, B, C]{reflectx.MakeFunc(f), f}
}

// Call3x1 calls the function.
func (c called3[A, B, C]) Call3x1(x, y, z any) any {
	return c.f(x.(A), y.(B), z.(C)) //nolint:errcheck // Beam has looked at the types
}

type called5[A, B, C, D, E any] struct {
	reflectx.Func

	f func(A, B, C, D, E) error
}

func call5[A, B, C, D, E any](f func(A, B, C, D, E) error) reflectx.Func {
	return called5[A, B, C, D, E]{reflectx.MakeFunc(f), f}
}

// Call5x1 calls the function.
func (c called5[A, B, C, D, E]) Call5x1(x, y, z, u, v any) any {
	return c.f(x.(A), y.(B), z.(C), u.(D), v.(E)) //nolint:errcheck // likewise
}

package transforms

import (
	"context"
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
		reflect.TypeFor[summariseWeighedFn](), reflect.TypeFor[fitFn](), reflect.TypeFor[codeTallyFn](),
		reflect.TypeFor[growObjectsFn](),
		reflect.TypeFor[noRowsFn](), reflect.TypeFor[windowTreeFn](),
		reflect.TypeFor[scoreFn](), reflect.TypeFor[scoreKeyedFn](), reflect.TypeFor[packFn](),
		reflect.TypeFor[packKeyedFn](), reflect.TypeFor[scorePacksFn](), reflect.TypeFor[numberTreeFn](), reflect.TypeFor[numberWindowTreeFn](),
		reflect.TypeFor[shardPacksFn](), reflect.TypeFor[copyTreesFn](), reflect.TypeFor[findTreesFn](), reflect.TypeFor[findTreesStreamFn](),
		reflect.TypeFor[scoreFoundFn](), reflect.TypeFor[unpackFn](), reflect.TypeFor[unpackKeyedFn](),
		reflect.TypeFor[countFn](), reflect.TypeFor[metricsFn](),
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
	beam.RegisterCoder(reflect.TypeFor[metric.Metrics](), encodeMetrics, decodeMetrics)
}

// The DoFns that see each row are called without reflection: a reflective call costs
// more than scoring the row.
func init() {
	reflectx.RegisterStructWrapper(reflect.TypeFor[scoreFn](), func(fn any) map[string]reflectx.Func {
		process := fn.(*scoreFn).ProcessElement //nolint:errcheck // Beam has looked at the type
		return map[string]reflectx.Func{"ProcessElement": scoreCall{reflectx.MakeFunc(process), process}}
	})
	reflectx.RegisterStructWrapper(reflect.TypeFor[tallyFn](), func(fn any) map[string]reflectx.Func {
		process := fn.(*tallyFn).ProcessElement //nolint:errcheck // likewise
		return map[string]reflectx.Func{"ProcessElement": tallyCall{reflectx.MakeFunc(process), process}}
	})
	reflectx.RegisterStructWrapper(reflect.TypeFor[packFn](), func(fn any) map[string]reflectx.Func {
		process := fn.(*packFn).ProcessElement //nolint:errcheck // likewise
		return map[string]reflectx.Func{"ProcessElement": packCall{reflectx.MakeFunc(process), process}}
	})
}

// scoreCall calls scoreFn without reflection: it is a reflectx.Func5x1.
type scoreCall struct {
	reflectx.Func

	process func(context.Context, beam.EventTime, beam.T, func(beam.T, Prediction), func(DeadLetter)) error
}

// Call5x1 calls scoreFn.ProcessElement.
func (c scoreCall) Call5x1(ctx, at, row, emit, refuse any) any {
	//nolint:errcheck // Beam has looked at the types
	return c.process(ctx.(context.Context), at.(beam.EventTime), row, emit.(func(beam.T, Prediction)),
		refuse.(func(DeadLetter)))
}

// tallyCall calls tallyFn without reflection: it is a reflectx.Func5x1.
type tallyCall struct {
	reflectx.Func

	process func(
		context.Context, beam.EventTime, beam.T, func(beam.EventTime, int64, []byte), func(DeadLetter),
	) error
}

// Call5x1 calls tallyFn.ProcessElement.
func (c tallyCall) Call5x1(ctx, at, row, emit, refuse any) any {
	//nolint:errcheck // Beam has looked at the types
	return c.process(ctx.(context.Context), at.(beam.EventTime), row, emit.(func(beam.EventTime, int64, []byte)),
		refuse.(func(DeadLetter)))
}

// packCall calls packFn without reflection: it is a reflectx.Func3x1.
type packCall struct {
	reflectx.Func

	process func(beam.EventTime, beam.T, func(beam.EventTime, []byte)) error
}

// Call3x1 calls packFn.ProcessElement.
func (c packCall) Call3x1(at, row, emit any) any {
	return c.process(at.(beam.EventTime), row, emit.(func(beam.EventTime, []byte))) //nolint:errcheck // likewise
}

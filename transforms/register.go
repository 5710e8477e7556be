package transforms

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// Most DoFns are registered by their type alone: transforms/jobs/registration.go says
// why.
func init() {
	for _, t := range []reflect.Type{
		reflect.TypeFor[summariseTallyFn](), reflect.TypeFor[fitFn](), reflect.TypeFor[codeTallyFn](),
		reflect.TypeFor[growObjectsFn](),
		reflect.TypeFor[tagFn](), reflect.TypeFor[noRowsFn](), reflect.TypeFor[windowTreeFn](),
		reflect.TypeFor[scoreFn](), reflect.TypeFor[tallyFn](),
	} {
		beam.RegisterDoFn(t)
	}
	register.Combiner3[tallies, []byte, []byte](&mergeTalliesFn{})
	register.Emitter2[beam.T, Prediction]()
	register.Emitter3[beam.EventTime, int64, []byte]()
	register.Emitter1[WindowTree]()
	beam.RegisterCoder(reflect.TypeFor[tallies](), encodeTallies, decodeTallies)
	beam.RegisterType(reflect.TypeFor[Prediction]())
	beam.RegisterType(reflect.TypeFor[WindowTree]())
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
}

// scoreCall calls scoreFn without reflection: it is a reflectx.Func3x1.
type scoreCall struct {
	reflectx.Func

	process func(context.Context, beam.T, func(beam.T, Prediction)) error
}

// Call3x1 calls scoreFn.ProcessElement.
func (c scoreCall) Call3x1(ctx, row, emit any) any {
	//nolint:errcheck // Beam has looked at the types
	return c.process(ctx.(context.Context), row, emit.(func(beam.T, Prediction)))
}

// tallyCall calls tallyFn without reflection: it is a reflectx.Func4x1.
type tallyCall struct {
	reflectx.Func

	process func(context.Context, beam.EventTime, beam.T, func(beam.EventTime, int64, []byte)) error
}

// Call4x1 calls tallyFn.ProcessElement.
func (c tallyCall) Call4x1(ctx, at, row, emit any) any {
	//nolint:errcheck // Beam has looked at the types
	return c.process(ctx.(context.Context), at.(beam.EventTime), row, emit.(func(beam.EventTime, int64, []byte)))
}

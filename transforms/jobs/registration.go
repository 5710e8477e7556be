package jobs

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// DoFns are registered by their type alone, so the SDK calls them by reflection. A call
// takes a microsecond, which is little for a row group, a block of objects or a shard.
// register.DoFn would save this, but adds five to ten seconds to every build for each
// signature.
func init() {
	for _, t := range []reflect.Type{
		reflect.TypeFor[summariseFn](), reflect.TypeFor[mergeSummariesFn](),
		reflect.TypeFor[coalesceFn](), reflect.TypeFor[mergeObjectsFn](),
		reflect.TypeFor[levelFn](), reflect.TypeFor[mergeLevelFn](), reflect.TypeFor[advanceFn](),
		reflect.TypeFor[gatherFn](), reflect.TypeFor[growFn](),
		reflect.TypeFor[evaluateFn](), reflect.TypeFor[evaluateRowsFn](), reflect.TypeFor[predictFn](),
		reflect.TypeFor[compareFn](), reflect.TypeFor[distributeFn](),
		reflect.TypeFor[mergeCountsFn](), reflect.TypeFor[mergeScoresFn](), reflect.TypeFor[mergePairsFn](),
		reflect.TypeFor[keyTimesFn](), reflect.TypeFor[copiesFn](), reflect.TypeFor[mergeHashesFn](),
		reflect.TypeFor[checkFn](), reflect.TypeFor[mergeChecksFn](),
	} {
		beam.RegisterDoFn(t)
	}
	register.Emitter2[int64, []byte]()
	register.Iter1[[]byte]()
}

package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// All DoFns share three signatures: see the package comment.
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
	register.DoFn3x1[context.Context, int64, func(*[]byte) bool, error](&mergeLeavesFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&mergeLevelFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&advanceFn{})
	register.Emitter2[int64, []byte]()
	register.Iter1[[]byte]()
}

package httpstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// tries counts consecutive failures of an operation's requests.
type tries struct {
	options Options

	mu     sync.Mutex
	failed int
	ever   bool      // some request has failed
	since  time.Time // time of the first failure in the row
	last   *GaveUpError
}

type triesKey struct{}

// Begin returns a context for the requests of an operation. The options limit the consecutive
// failures over all these requests. Concurrent requests need a context each.
func Begin(ctx context.Context, o Options) context.Context {
	return context.WithValue(ctx, triesKey{}, &tries{options: o.WithDefaults()})
}

// triesOf returns the tries in a context of Begin, or nil.
func triesOf(ctx context.Context) *tries {
	t, _ := ctx.Value(triesKey{}).(*tries)
	return t
}

// GaveUpError is the error if the last try of an operation failed. Another try is useless.
type GaveUpError struct {
	Tries int
	Err   error
}

// Error implements error.
func (e *GaveUpError) Error() string {
	if e.Tries == 1 {
		return Reason(e.Err)
	}
	return fmt.Sprintf("gave up after %d tries: %s", e.Tries, Reason(e.Err))
}

// Unwrap returns the error of the last try.
func (e *GaveUpError) Unwrap() error { return e.Err }

// fail counts a failure. It returns the error, or a *GaveUpError if this was the last try.
func (t *tries) fail(err error) error {
	if t == nil {
		return err
	}
	if gaveUp := (*GaveUpError)(nil); errors.As(err, &gaveUp) {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed++
	t.ever = true
	if t.failed == 1 {
		t.since = time.Now()
	}
	most := t.options.Attempts
	if status := (*StatusError)(nil); errors.As(err, &status) && Busy(status.Code) {
		most = t.options.BusyAttempts
	}
	if t.failed < most && time.Since(t.since) < t.options.RetryTime {
		return err
	}
	t.last = &GaveUpError{Tries: t.failed, Err: err}
	return t.last
}

// succeed ends a row of failures.
func (t *tries) succeed() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = 0
}

// exhausted returns the error of the last try, or nil if tries are left.
func (t *tries) exhausted() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		return nil
	}
	return t.last
}

// failures returns the number of failures in a row.
func (t *tries) failures() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// Retried reports whether a request of the operation has failed. The failed request may
// have taken effect in the store.
func Retried(ctx context.Context) bool {
	t := triesOf(ctx)
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ever
}

package httpstore

import (
	"context"
	"math/rand/v2"
	"time"
)

// Options limit the tries of a driver. Zero fields have defaults.
type Options struct {
	// Attempts is the number of failed tries in a row after which an operation fails. The
	// default is 8: with the default pauses, an outage of about 15 seconds.
	Attempts int
	// BusyAttempts is that number while the store asks for fewer requests (429, 503), which passes
	// in minutes. The default is as many as fit into RetryTime, and at least 30.
	BusyAttempts int
	// RetryTime is the time after the first of several failures in a row; a failure after
	// this time is the last. The default is 3 minutes.
	RetryTime time.Duration
	// IdleTimeout is the time without a byte sent or received after which a try fails. The
	// default is 30 seconds.
	IdleTimeout time.Duration
	// Backoff is the pause before the second try. The pause doubles with each further try,
	// up to MaxBackoff, and is shortened by a random part. The defaults are 200
	// milliseconds and 10 seconds.
	Backoff, MaxBackoff time.Duration
}

// WithDefaults returns the options with defaults in place of zeros.
func (o Options) WithDefaults() Options {
	o.Attempts = positive(o.Attempts, 8)
	o.RetryTime = positive(o.RetryTime, 3*time.Minute)
	o.BusyAttempts = max(o.Attempts, positive(o.BusyAttempts, max(30, int(o.RetryTime/shortestBusy))))
	o.IdleTimeout = positive(o.IdleTimeout, 30*time.Second)
	o.Backoff = positive(o.Backoff, 200*time.Millisecond)
	o.MaxBackoff = max(o.Backoff, positive(o.MaxBackoff, 10*time.Second))
	return o
}

// shortestBusy is the shortest pause between two tries after several failures, with the default pauses.
const shortestBusy = 5 * time.Second

func positive[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Pause returns a random pause after the given number of failures in a row.
func (o Options) Pause(failures int) time.Duration {
	d := o.Backoff
	for range failures - 1 {
		if d *= 2; d >= o.MaxBackoff {
			d = o.MaxBackoff
			break
		}
	}
	return d/2 + rand.N(d/2+1)
}

// sleep waits for d, or returns the context's error when the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err()
	}
}

package distill

import (
	"runtime"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// Options are the options of MakeUp. The zero value of an option selects its default.
type Options struct {
	Seed    uint64      // seed of all random choices
	Workers int         // number of goroutines; 0: GOMAXPROCS. It does not change the objects
	Stop    func() bool // called often, from any goroutine; if it returns true, there is no result; may be nil
}

// each calls f(0), f(1), .. f(n-1) until Stop returns true, and reports whether all calls were made.
func (o *Options) each(n int, f func(i int)) bool {
	var stopped atomic.Bool
	parallel.Each(n, o.Workers, func(i int) {
		if stopped.Load() || o.Stop() {
			stopped.Store(true)
			return
		}
		f(i)
	})
	return !stopped.Load()
}

func (o Options) orDefault() Options {
	if o.Stop == nil {
		o.Stop = func() bool { return false }
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}

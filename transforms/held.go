package transforms

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"

	"github.com/espalier-ml/espalier/transforms/jobs"
)

// held is what a DoFn keeps in its state: trees, and values that wait until the watermark has reached a time.
type held struct {
	kept    *state.Value[[]byte] // encoded keptTrees
	waiting *state.Bag[[]byte]
	due     *timers.EventTime

	time   func(value []byte) (at int64, waits bool, err error) // its time in ms since 1970
	take   func(k *keptTrees, value []byte) error               // uses a value that need not wait
	needed func(reached int64) int64                            // the latest tree of this time, and later trees, are needed
}

// process takes a value, or lets it wait.
func (h *held) process(sp state.Provider, tp timers.Provider, value []byte) error {
	k, err := h.read(sp)
	if err != nil {
		return err
	}
	at, waits, err := h.time(value)
	switch {
	case err != nil:
	case waits && at > k.Reached:
		k.Waits, k.changed = true, true
		err = h.waiting.Add(sp, value)
	default:
		err = h.take(k, value)
	}
	if err != nil || !k.changed {
		return err
	}
	if at > k.Reached { // each time has a timer of its own, so that timers do not wait for another
		h.due.Set(tp, time.UnixMilli(at), timers.WithTag(strconv.FormatInt(at, 10)))
	}
	return h.kept.Write(sp, jobs.MustJSON(k))
}

// release takes the values that need not wait any longer, in the order of their bytes, when the watermark has reached
// a time. It forgets trees that are no longer needed.
func (h *held) release(sp state.Provider, reached int64) error {
	k, err := h.read(sp)
	if err != nil {
		return err
	}
	k.Reached = max(k.Reached, reached)
	if k.Waits {
		if err := h.takeWaiting(sp, k); err != nil {
			return err
		}
	}
	k.forget(h.needed(k.Reached))
	return h.kept.Write(sp, jobs.MustJSON(k))
}

func (h *held) takeWaiting(sp state.Provider, k *keptTrees) error {
	waiting, _, err := h.waiting.Read(sp)
	if err != nil {
		return err
	}
	if err := h.waiting.Clear(sp); err != nil {
		return err
	}
	slices.SortFunc(waiting, bytes.Compare)
	k.Waits = false
	for _, b := range waiting {
		at, _, err := h.time(b)
		switch {
		case err != nil:
		case at > k.Reached:
			k.Waits = true
			err = h.waiting.Add(sp, b)
		default:
			err = h.take(k, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *held) read(sp state.Provider) (*keptTrees, error) {
	k := &keptTrees{Reached: int64(mtime.MinTimestamp)}
	b, ok, err := h.kept.Read(sp)
	if err == nil && ok {
		err = json.Unmarshal(b, k)
	}
	return k, err
}

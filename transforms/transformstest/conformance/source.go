package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[readFn]())
	register.Emitter2[beam.EventTime, Event]()
	beam.RegisterType(reflect.TypeFor[Event]())
}

// Event is a row of the stream. Y may be missing.
type Event struct {
	ID     int64    `json:"id"`
	Millis int64    `json:"millis"` // time of the event in ms since 1970
	X      float64  `json:"x"`
	Y      *float64 `json:"y"`
	Color  string   `json:"color"`
	Member bool     `json:"member"`
	Class  string   `json:"class"`
}

// message is a message of the broker: an event, or a new watermark.
type message struct {
	Event     *Event `json:"event,omitempty"`
	Watermark int64  `json:"watermark,omitempty"` // ms since 1970
}

// readFn reads the stream from its first message to its last. The watermark stays some
// time behind the latest event, unless a message sets it. (Beam's own natsio does not know
// the times of events.)
type readFn struct {
	Numbered // numbers of the messages

	Observer string        // has the broker
	Behind   time.Duration // how far the watermark is behind the latest event
	Bundle   int           // most messages of a bundle

	from Subscription
	next int64 // number of the message to be read next
}

// Teardown closes the connection.
func (f *readFn) Teardown() {
	if f.from != nil {
		f.from.Close()
	}
}

func (f *readFn) ProcessElement(
	ctx context.Context, we *sdf.ManualWatermarkEstimator, rt *sdf.LockRTracker, _ []byte,
	emit func(beam.EventTime, Event),
) (sdf.ProcessContinuation, error) {
	const wait = 50 * time.Millisecond
	start := rt.GetRestriction().(offsetrange.Restriction).Start //nolint:errcheck // CreateTracker made it
	if f.from == nil {
		var err error
		if f.from, err = observe(f.Observer).broker.Subscribe(); err != nil {
			return sdf.StopProcessing(), err
		}
	}
	f.next = start
	for read := 0; read < f.Bundle; {
		batch, err := f.from.Fetch(ctx, f.next, min(1000, f.Bundle-read), wait)
		if err != nil {
			return sdf.StopProcessing(), err
		}
		for _, payload := range batch {
			if !rt.TryClaim(f.next) {
				return sdf.StopProcessing(), rt.GetError()
			}
			f.next++
			if err := f.message(payload, we, emit); err != nil {
				return sdf.StopProcessing(), err
			}
		}
		if read += len(batch); len(batch) == 0 {
			break
		}
	}
	if f.next >= f.End {
		rt.TryClaim(f.next) // no message follows
		return sdf.StopProcessing(), rt.GetError()
	}
	return sdf.ResumeProcessingIn(time.Millisecond), nil
}

// message emits the event of a message, and moves the watermark on.
func (f *readFn) message(payload []byte, we *sdf.ManualWatermarkEstimator, emit func(beam.EventTime, Event)) error {
	var m message
	if err := json.Unmarshal(payload, &m); err != nil {
		return fmt.Errorf("message %d: %w", f.next-1, err)
	}
	watermark := m.Watermark
	if m.Event != nil {
		emit(beam.EventTime(m.Event.Millis), *m.Event)
		watermark = m.Event.Millis - f.Behind.Milliseconds()
	}
	if watermark > we.State.UnixMilli() {
		we.UpdateWatermark(time.UnixMilli(watermark))
	}
	return nil
}

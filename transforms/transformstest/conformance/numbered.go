package conformance

import (
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
)

func init() { beam.RegisterType(reflect.TypeFor[offsetrange.Restriction]()) }

// Numbered has the methods of a splittable DoFn that reads an unbounded collection of numbered elements, by one reader
// and in their order. The DoFn embeds it, adds ProcessElement, and takes the output of beam.Impulse.
type Numbered struct{ Start, End int64 } // number of the first element, and of the one after the last

// CreateInitialRestriction returns all elements.
func (n *Numbered) CreateInitialRestriction([]byte) offsetrange.Restriction {
	return offsetrange.Restriction{Start: n.Start, End: n.End}
}

// SplitRestriction splits nothing.
func (n *Numbered) SplitRestriction(_ []byte, r offsetrange.Restriction) []offsetrange.Restriction {
	return []offsetrange.Restriction{r}
}

// RestrictionSize returns the number of elements.
func (n *Numbered) RestrictionSize(_ []byte, r offsetrange.Restriction) float64 { return r.Size() }

// oneReader lets a bundle end early, but lets no second bundle read at the same time: the
// second one would set the watermark by events far ahead.
type oneReader struct{ *offsetrange.Tracker }

func (t oneReader) TrySplit(fraction float64) (primary, residual any, err error) {
	if fraction > 0 {
		return t.GetRestriction(), nil, nil
	}
	return t.Tracker.TrySplit(fraction)
}

// CreateTracker returns a tracker that refuses a second reader.
func (n *Numbered) CreateTracker(r offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(oneReader{offsetrange.NewTracker(r)})
}

// TruncateRestriction drops the elements that are not read yet when a pipeline is drained.
func (n *Numbered) TruncateRestriction(*sdf.LockRTracker, []byte) offsetrange.Restriction {
	return offsetrange.Restriction{}
}

// InitialWatermarkEstimatorState returns the watermark before the first element, in ms since 1970.
func (n *Numbered) InitialWatermarkEstimatorState(beam.EventTime, offsetrange.Restriction, []byte) int64 {
	return 0
}

// CreateWatermarkEstimator returns an estimator that ProcessElement moves on.
func (n *Numbered) CreateWatermarkEstimator(millis int64) *sdf.ManualWatermarkEstimator {
	return &sdf.ManualWatermarkEstimator{State: time.UnixMilli(millis)}
}

// WatermarkEstimatorState returns the watermark in ms since 1970.
func (n *Numbered) WatermarkEstimatorState(we *sdf.ManualWatermarkEstimator) int64 {
	return we.State.UnixMilli()
}

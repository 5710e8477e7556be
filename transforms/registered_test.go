package transforms_test

import (
	"context"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/vet"

	"github.com/espalier-ml/espalier/transforms"
)

// TestRegistered looks for DoFns that would run by reflection: slow, and a sign
// of a registration that was forgotten.
func TestRegistered(t *testing.T) {
	for name, build := range map[string]func(s beam.Scope, tasks beam.PCollection){
		"Summarise": func(s beam.Scope, c beam.PCollection) { transforms.Summarise(s, c, transforms.SummariseConfig{}) },
		"Coalesce":  func(s beam.Scope, c beam.PCollection) { transforms.Coalesce(s, c, transforms.CoalesceConfig{}) },
		"Grow":      func(s beam.Scope, c beam.PCollection) { transforms.Grow(s, c, transforms.SmallConfig{}) },
		"Level":     func(s beam.Scope, c beam.PCollection) { transforms.Level(s, c, transforms.LevelConfig{Levels: 2}) },
		"Predict":   func(s beam.Scope, c beam.PCollection) { transforms.Predict(s, c, transforms.PredictConfig{}) },
		"Evaluate":  func(s beam.Scope, c beam.PCollection) { transforms.Evaluate(s, c, transforms.EvaluateConfig{}) },
	} {
		p, s := beam.NewPipelineWithRoot()
		build(s, beam.Impulse(s))
		if _, err := vet.Execute(context.Background(), p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

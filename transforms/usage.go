package transforms

import (
	"context"
	"math"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tree"
)

var (
	rowsScored    = beam.NewCounter(elements.CounterNamespace, "rows_scored")
	valuesMissing = beam.NewCounter(elements.CounterNamespace, "values_missing")
	keysMissing   = beam.NewCounter(elements.CounterNamespace, "keys_missing")
	valuesUnseen  = beam.NewCounter(elements.CounterNamespace, "values_unseen")
	valuesOutside = beam.NewCounter(elements.CounterNamespace, "values_outside")
	testsPerRow   = beam.NewDistribution(elements.CounterNamespace, "tests_per_row")
	costPerRow    = beam.NewDistribution(elements.CounterNamespace, "cost_per_row")
)

// columnUsage counts rows and values of the current bundle.
type columnUsage struct {
	scored  int64
	absent  int64 // keys of maps
	values  dataset.Novelty
	classes map[string]int64
}

// scorerUsage watches the values of the features that a tree tests.
type scorerUsage struct {
	watches []*dataset.Watch // by input
	rows    int              // rows that the tree has scored in this worker
	seen    []bool           // by input: some row had a value
}

func newScorerUsage(t *tree.Tree) *scorerUsage {
	u := new(scorerUsage)
	for _, in := range t.Scorer().Features() {
		u.watches = append(u.watches, dataset.NewWatch(&t.Features[in.Feature]))
	}
	u.seen = make([]bool, len(u.watches))
	return u
}

// firstRows is the number of rows after which columns without any value are logged.
const firstRows = 100

// costUnits are the units of cost_per_row in a cost of 1.
const costUnits = 1000

// count counts a row with its cells. Once for each model it logs the tested features that
// the first rows all lack.
func (k *columnUsage) count(
	ctx context.Context, s *scorer, cells []rowtype.Cell, p *tree.Prediction, schema *rowtype.Schema,
) {
	k.scored++
	if k.classes == nil {
		k.classes = make(map[string]int64)
	}
	k.classes[p.Class]++
	testsPerRow.Update(ctx, int64(p.Tests))
	costPerRow.Update(ctx, int64(math.Round(float64(p.Cost*costUnits))))
	u := s.usage
	for i := range cells {
		switch c := &cells[i]; c.Type {
		case dataset.Number:
			k.values.Add(u.watches[i].Number(c.Number))
		case dataset.Text:
			k.values.Add(u.watches[i].Text(c.Text))
		default:
			k.values.Add(u.watches[i].Missing())
			if c.Absent {
				k.absent++
			}
			continue
		}
		u.seen[i] = true
	}
	if u.rows++; u.rows == firstRows && schema.Map {
		u.warn(ctx, s, schema)
	}
}

// warn logs the features that no row had.
func (u *scorerUsage) warn(ctx context.Context, s *scorer, schema *rowtype.Schema) {
	var names []string
	for i, seen := range u.seen {
		if !seen {
			names = append(names, s.Columns[i].Name)
		}
	}
	if len(names) > 0 {
		log.Warnf(ctx, "transforms.Score: none of the first %d rows of type %s has a value of %q, which model %s tests: "+
			"are the keys misspelled?", firstRows, schema.Type, names, s.id)
	}
}

// flush adds the counts of a bundle to the counters: to increment a counter takes longer than
// to score a row.
func (k *columnUsage) flush(ctx context.Context) {
	rowsScored.Inc(ctx, k.scored)
	valuesMissing.Inc(ctx, k.values.Missing)
	keysMissing.Inc(ctx, k.absent)
	valuesUnseen.Inc(ctx, k.values.Unseen)
	valuesOutside.Inc(ctx, k.values.Outside)
	for class, rows := range k.classes {
		beam.NewCounter(elements.CounterNamespace, "class_"+class).Inc(ctx, rows)
	}
	k.scored = 0
	k.absent = 0
	k.values = dataset.Novelty{}
	clear(k.classes)
}

package growtest

import (
	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// AddBooster adds the values of a booster for a row to its scores, by the definition of its splits. code returns the
// row's code of a feature.
func AddBooster(b *boost.Booster, scores []float64, features []dataset.Feature, code func(feature int) int) {
	for _, t := range b.Trees {
		for at := 0; ; {
			s := &t[at]
			side := &t[at].No
			f := &features[s.Feature]
			c := code(s.Feature)
			missing := c == f.MissingCode()
			if missing && s.Missing || !missing && (s.Has(c) || f.Kind == dataset.Numeric && c >= s.Code) {
				side = &s.Yes
			}
			if side.Values != nil {
				for k, v := range side.Values {
					scores[k] += v
				}
				break
			}
			at = side.Split
		}
	}
}

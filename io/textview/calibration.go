package textview

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/metric"
)

// ThreeDecimals writes a share with at least three decimals.
func ThreeDecimals(share float64) string { return decimals(share, 3) }

// OffBy describes how far the probabilities are from the observed shares, on average over rows. points writes
// a difference of shares.
func OffBy(c *metric.Calibration, points func(share float64) string) string {
	switch {
	case c.ChanceLimit == nil:
		return "off by " + points(c.ObservedError) + " on average (how much of it is chance is not known)"
	case c.Off():
		return "off by " + points(*c.ExpectedError) + " on average beyond chance"
	case *c.ChanceLimit == 0:
		return "off by " + points(c.ObservedError) + " on average"
	default:
		return fmt.Sprintf("off by %s on average, no more than chance explains (%s)", points(c.ObservedError), points(*c.ChanceLimit))
	}
}

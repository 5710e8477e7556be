// Package weighing has what rows weigh: units of their weights, and factors of their classes.
package weighing

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// FractionScale is the number of fixed-point units in 1 where weights have fractions.
const FractionScale = 1_000_000

// MaxTotalWeight is the largest weight of all rows, in units. Products stop there, so that sums
// do not overflow.
const MaxTotalWeight = 1 << 60

// Rule describes how rows are weighed: the units in which their weights are counted, and the
// factors by which classes multiply the weights of training rows. The zero Rule is the rule for
// rows without weights.
type Rule struct {
	// Units are the units of the weights of each part; nil if rows have no weights, or if the units
	// are not known yet.
	Units *[dataset.Parts]dataset.WeightUnit `json:"units,omitempty"`

	// ClassWeights are factors of the weights of training rows by class, in units of
	// 1/FractionScale. Empty: all factors are 1. A product of a weight and a factor is divided by
	// ClassDivisor, either 1 or FractionScale, and rounded.
	ClassWeights []int64 `json:"class_weights,omitempty"`
	ClassDivisor int64   `json:"class_divisor,omitempty"`
	// ClassMean is the mean factor of the training rows whose class has one above 0, by weight; 0: 1.
	ClassMean float64 `json:"class_mean,omitempty"`
}

// Weighted reports whether rows of some part have weights other than 1.
func (s *Rule) Weighted() bool { return s.Units != nil || len(s.ClassWeights) > 0 }

// Weighed returns the weight of a training row of a class, times the factor of the class.
func (s *Rule) Weighed(weight int64, class uint16) int64 {
	if len(s.ClassWeights) == 0 {
		return weight
	}
	return multiplied(weight, s.ClassWeights[class], uint64(s.ClassDivisor))
}

// multiplied returns weight*factor/unit, rounded, and at most MaxTotalWeight.
func multiplied(weight, factor int64, unit uint64) int64 {
	hi, lo := bits.Mul64(uint64(weight), uint64(factor))
	lo, carry := bits.Add64(lo, unit/2, 0)
	if hi += carry; hi >= unit {
		return MaxTotalWeight
	}
	product, _ := bits.Div64(hi, lo, unit)
	return int64(min(product, MaxTotalWeight))
}

// ScaleOf returns how many units the mean weight of a training row has, for rows of a part with their
// labels.
func (s *Rule) ScaleOf(part dataset.Part) float64 {
	scale := s.plainScale(part)
	if part == dataset.Train {
		scale *= cmp.Or(s.ClassMean, 1)
	}
	return scale
}

// plainScale is ScaleOf where the mean factor of a class is 1.
func (s *Rule) plainScale(part dataset.Part) float64 {
	scale := 1.0
	if s.Units != nil && s.Units[part].Size > 0 {
		scale = s.Units[part].Scale
	}
	if part == dataset.Train && len(s.ClassWeights) > 0 {
		scale *= float64(FractionScale / s.ClassDivisor)
	}
	return scale
}

// WeightEffect returns the design effect of the weights of training rows; 0 if rows have no weights.
func (s *Rule) WeightEffect() float64 {
	if s.Units == nil {
		return 0
	}
	return s.Units[dataset.Train].Effect
}

// Training describes the training rows of a tree and how they were weighed. rows is the number of training
// rows with a weight above 0, dropped the number of rows without a label.
func (s *Rule) Training(train *dataset.ObjectCounts, rows, dropped int64) tree.Training {
	d := tree.Training{
		Rows: train.Rows, Objects: train.Objects, Weight: train.Weight, RelabelledRows: s.RelabelledRows(train),
		DroppedNullLabel: dropped,
	}
	if s.Units != nil {
		d.MeanWeight = s.Units[dataset.Train].Mean
	}
	if len(s.ClassWeights) == 0 {
		return d
	}
	d.Weights = tree.WeightsByClass
	for _, w := range s.ClassWeights {
		d.ClassWeights = append(d.ClassWeights, float64(w)/FractionScale)
	}
	d.LeftOutRows = rows - d.Rows
	return d
}

// RelabelledRows returns the number of rows with another class than their object. If rows have
// weights, it is the weight of these rows, without the factors of classes, over the mean weight of a
// training row.
func (s *Rule) RelabelledRows(o *dataset.ObjectCounts) int64 {
	sum := 0.0
	for k, weight := range o.Relabelled {
		unit := s.plainScale(o.Part)
		if o.Part == dataset.Train && k < len(s.ClassWeights) {
			unit *= float64(s.ClassWeights[k]) / FractionScale
		}
		if weight > 0 {
			sum += float64(weight) / unit
		}
	}
	return int64(math.RoundToEven(sum))
}

package settings

import (
	"cmp"
	"fmt"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/selection"
)

// leastShares lists the demanded shares, by the names of their settings.
func (s *Choice) leastShares() (names []string, list []LeastShare) {
	return []string{"min_sensitivity", "min_specificity", "min_precision"}, []LeastShare{s.MinSensitivity, s.MinSpecificity, s.MinPrecision}
}

// demand returns the demand of the settings; nil if the settings demand nothing.
func (s *Choice) demand() *frontier.Demand {
	d := &frontier.Demand{
		Sensitivity: s.MinSensitivity.Share, Specificity: s.MinSpecificity.Share, Precision: s.MinPrecision.Share, Confidence: s.Confidence,
	}
	_, list := s.leastShares()
	for _, x := range list {
		if x.Share != 0 {
			d.Class = x.Class
		}
	}
	if d.Sensitivity == 0 && d.Specificity == 0 && d.Precision == 0 {
		return nil
	}
	return d
}

// demandFaults checks the demanded shares.
func (s *Settings) demandFaults(name Namer) []error {
	d := s.demand()
	if d == nil {
		return nil
	}
	var faults []error
	names, list := s.leastShares()
	first := "" // setting of a demanded share
	for i, x := range list {
		if x.Share != 0 {
			first = cmp.Or(first, names[i])
		}
		if r := RangeOf(names[i]); !r.Has(x.Share) {
			faults = append(faults, fmt.Errorf("%s %s=%s: want a share %s", name(names[i]), x.Class, Spelled(x.Share), r))
		}
		if x.Share != 0 && x.Class != d.Class {
			faults = append(faults, fmt.Errorf("%s is about the class %q, and another share about %q: a threshold is about one class",
				name(names[i]), x.Class, d.Class))
		}
	}
	if r := RangeOf("confidence"); !r.Has(s.Confidence) {
		faults = append(faults, fmt.Errorf("%s %s: want a number %s", name("confidence"), Spelled(s.Confidence), r))
	}
	if s.Positive != "" && s.Positive != d.Class {
		faults = append(faults, fmt.Errorf("%s %s: %s is about the class %q, and a tree has one class of interest", name("positive"), s.Positive,
			name(first), d.Class))
	}
	for _, x := range []struct {
		setting string
		given   bool
	}{{"priors", s.Priors != nil}, {"class_weights", s.ClassWeights != nil || s.BalanceClasses}} {
		if x.given && s.MinPrecision.Share != 0 {
			faults = append(faults, fmt.Errorf("%s: a precision is shown by the classes' frequencies among the rows, not by %s: demand a sensitivity "+
				"and a specificity", name("min_precision"), name(x.setting)))
		}
	}
	if s.LeafModel != selection.None && d.Trades() {
		faults = append(faults, fmt.Errorf("%s %s: where leaves have models, a threshold keeps a sensitivity or a specificity alone: demand a "+
			"sensitivity or a specificity, not a precision or both, or give %s none", name("leaf_model"), s.LeafModel, name("leaf_model")))
	}
	if s.SplitColumn == "" && s.Split[1] == 0 {
		faults = append(faults, fmt.Errorf("%s: a threshold is chosen on validation rows, and %s %s has none", name(first), name("split"), s.Split))
	}
	return faults
}

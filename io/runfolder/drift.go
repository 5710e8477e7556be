package runfolder

import (
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/drift"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Drift describes how far the columns of rows, and the leaves that the rows reach, have moved from
// the training rows of a run.
type Drift struct {
	Format      string        `json:"format"`
	Version     int           `json:"version"`
	Model       string        `json:"model"`             // the run, as given by the user
	Against     string        `json:"against,omitempty"` // run whose training rows were compared; empty for rows of files
	Before      int64         `json:"before"`            // training rows
	Now         int64         `json:"now"`               // compared rows
	FalseAlarms float64       `json:"false_alarms"`      // greatest probability of any alarm without drift
	LeastPSI    float64       `json:"least_psi"`         // least PSI of an alarm
	Columns     []DriftedBins `json:"columns"`           // the features in the order of schema.json
	Leaves      *DriftedBins  `json:"leaves"`            // shares of the leaves; null if they are unknown without drift

	// Omitted lists the columns for which two runs have no bin in common.
	Omitted []string `json:"omitted,omitempty"`
}

// DriftedBins holds the rows by bin of a column, or by leaf.
type DriftedBins struct {
	Column string `json:"column"` // "leaves" for the leaves
	Kind   string `json:"kind"`   // numeric, categorical or leaves
	Alarm  bool   `json:"alarm"`

	PSI               float64  `json:"psi"`
	KolmogorovSmirnov *float64 `json:"kolmogorov_smirnov"` // null if the bins have no order
	JensenShannon     float64  `json:"jensen_shannon"`
	ChiSquare         float64  `json:"chi_square"`
	Freedom           int      `json:"freedom"`
	P                 float64  `json:"p"`

	Moved  MovedBin `json:"moved"`
	Before []int64  `json:"before"` // training rows by bin
	Now    []int64  `json:"now"`

	measures drift.Measures
}

// MovedBin is the bin whose share has changed most.
type MovedBin struct {
	Bin    string  `json:"bin"`
	Before float64 `json:"before"` // share of the training rows
	Now    float64 `json:"now"`
}

const (
	driftFormat = "espalier/drift"
	driftLeaves = "leaves"
)

// Encode returns the drift in its printed form.
func (d *Drift) Encode() ([]byte, error) { return encodeJSON(d) }

// Alarms lists the columns that have drifted; "leaves" stands for the leaves.
func (d *Drift) Alarms() []string {
	var names []string
	for _, bins := range d.All() {
		if bins.Alarm {
			names = append(names, bins.Column)
		}
	}
	return names
}

// All lists the columns, then the leaves.
func (d *Drift) All() []*DriftedBins {
	list := make([]*DriftedBins, 0, len(d.Columns)+1)
	for i := range d.Columns {
		list = append(list, &d.Columns[i])
	}
	if d.Leaves != nil {
		list = append(list, d.Leaves)
	}
	return list
}

// NewDrift measures the drift of rows from the training rows of a model. features have their rows
// by code before and now.
func NewDrift(model string, features []dataset.Feature, before *Distribution, now [][]int64) *Drift {
	d := &Drift{
		Format: driftFormat, Version: 1, Model: model, Before: before.Rows,
		Columns: make([]DriftedBins, len(features)),
	}
	for i := range features {
		f := &features[i]
		d.Now = drift.Rows(now[i])
		d.Columns[i] = newDriftedBins(before.Of(f.Name), now[i], func(code int) string { return spellBin(f, code) })
		d.Columns[i].Column, d.Columns[i].Kind = f.Name, f.Kind.String()
		if f.Kind == dataset.Numeric {
			d.Columns[i].KolmogorovSmirnov = &d.Columns[i].measures.KolmogorovSmirnov
		}
	}
	return d
}

// NewDriftBetween measures the drift of the training rows of a run from the training rows of a
// model, in the bins that both have.
func NewDriftBetween(model string, before *Run, run string, now *Run) *Drift {
	var features []dataset.Feature
	var omitted []string
	old := &Distribution{Rows: before.Distribution.Rows}
	var counts [][]int64
	others := now.Schema.Features()
	for _, f := range before.Schema.Features() {
		at := slices.IndexFunc(others, func(g dataset.Feature) bool {
			return g.Name == f.Name && g.Kind == f.Kind && g.Unit == f.Unit
		})
		if at < 0 {
			omitted = append(omitted, f.Name)
			continue
		}
		common, ofBefore, ofNow := drift.Common(&f, &others[at])
		if len(common.Cuts)+len(common.Values) == 0 && len(f.Cuts)+len(f.Values) > 0 {
			omitted = append(omitted, f.Name)
			continue
		}
		features = append(features, common)
		old.Columns = append(old.Columns, ColumnRows{
			f.Name, drift.Merge(before.Distribution.Of(f.Name), ofBefore, common.Codes()),
		})
		counts = append(counts, drift.Merge(now.Distribution.Of(f.Name), ofNow, common.Codes()))
	}
	d := NewDrift(model, features, old, counts)
	d.Against, d.Omitted, d.Now = run, omitted, now.Distribution.Rows
	return d
}

// AddLeaves measures the drift of the leaves' shares, given rows by leaf before and by node now.
func (d *Drift) AddLeaves(t *tree.Tree, before, now []int64) {
	var ids []int
	var came []int64
	for id := range t.Nodes {
		if t.Nodes[id].Leaf() {
			ids, came = append(ids, id), append(came, now[id])
		}
	}
	leaves := newDriftedBins(before, came, func(i int) string { return "leaf " + strconv.Itoa(ids[i]) })
	leaves.Column, leaves.Kind = driftLeaves, driftLeaves
	d.Leaves, d.Now = &leaves, drift.Rows(came)
}

// Judge sets which columns have drifted.
func (d *Drift) Judge(limits drift.Limits) {
	d.FalseAlarms, d.LeastPSI = limits.FalseAlarms, limits.PSI
	all := d.All()
	measured := make([]drift.Measures, len(all))
	for i := range all {
		measured[i] = all[i].measures
	}
	for i, alarm := range limits.Alarms(measured) {
		all[i].Alarm = alarm
	}
}

// newDriftedBins measures bins. spell names a bin.
func newDriftedBins(before, now []int64, spell func(bin int) string) DriftedBins {
	m := drift.Measure(before, now)
	b := DriftedBins{
		PSI: m.PSI, JensenShannon: m.JensenShannon, ChiSquare: m.ChiSquare, Freedom: m.Freedom, P: m.P,
		Before: before, Now: now, measures: m,
	}
	all, came := max(1, drift.Rows(before)), max(1, drift.Rows(now))
	for bin := range before {
		p, q := float64(before[bin])/float64(all), float64(now[bin])/float64(came)
		if bin == 0 || math.Abs(q-p) > math.Abs(b.Moved.Now-b.Moved.Before) {
			b.Moved = MovedBin{spell(bin), p, q}
		}
	}
	return b
}

// spellBin describes the values with a code of a feature.
func spellBin(f *dataset.Feature, code int) string {
	switch {
	case code == f.MissingCode():
		return "missing"
	case f.Kind == dataset.Categorical && code == f.OtherCode():
		return "other"
	case f.Kind == dataset.Categorical:
		return f.Category(code)
	case len(f.Cuts) == 0:
		return "any value"
	case code == 0:
		return "< " + f.Unit.Spell(f.Cuts[0])
	case code == len(f.Cuts):
		return ">= " + f.Unit.Spell(f.Cuts[code-1])
	default:
		return f.Unit.Spell(f.Cuts[code-1]) + " to " + f.Unit.Spell(f.Cuts[code])
	}
}

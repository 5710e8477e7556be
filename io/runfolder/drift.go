package runfolder

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/drift"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Drift describes how far the columns of rows, and the leaves that the rows reach, have moved from
// the training rows of a run.
type Drift struct {
	Format  string `json:"format" jsonschema:"enum=espalier/drift"`
	Version int    `json:"version" jsonschema:"enum=1"`
	Model   string `json:"model"`                         // the run, as given by the user
	Against string `json:"against,omitempty"`             // run whose training rows were compared; absent: rows of files were compared
	Key     string `json:"key,omitempty"`                 // column of groups of the compared rows; absent: rows are independent
	Before  int64  `json:"before" jsonschema:"minimum=0"` // training rows
	Now     int64  `json:"now" jsonschema:"minimum=0"`    // compared rows
	// FalseAlarms is the greatest probability of any alarm without drift.
	FalseAlarms float64       `json:"false_alarms" jsonschema:"minimum=0,maximum=1"`
	LeastPSI    float64       `json:"least_psi" jsonschema:"minimum=0"` // least PSI of an alarm
	Columns     []DriftedBins `json:"columns"`                          // the features in the order of schema.json
	// Leaves are the shares of the leaves; null: no rows were held out of training, so that the shares without drift are
	// unknown, or two runs were compared.
	Leaves *DriftedBins `json:"leaves" jsonschema:"nullable"`

	Omitted []string `json:"omitted,omitempty"` // columns for which two runs have no bin in common, or that were not counted
}

// DriftedBins holds the rows by bin of a column, or by leaf.
type DriftedBins struct {
	Column string `json:"column"`                                                      // "leaves" for the leaves
	Kind   string `json:"kind" jsonschema:"enum=numeric,enum=categorical,enum=leaves"` // numeric, categorical or leaves
	// Alarm is whether P is at most false_alarms over the number of columns and leaves that are not left out, and PSI at
	// least least_psi.
	Alarm bool `json:"alarm"`

	// PSI is the population stability index of merged bins, less its expectation without drift; half a row is added to
	// each bin.
	PSI float64 `json:"psi" jsonschema:"minimum=0"`
	// ChiSquare is the likelihood-ratio statistic (G) with Williams' correction; neighbouring bins are merged until at
	// least 10 rows are expected in each, by the training rows and the number of rows now.
	ChiSquare float64 `json:"chi_square" jsonschema:"minimum=0"`
	Freedom   int     `json:"freedom" jsonschema:"minimum=0"`
	// P is the probability of the statistic, and of more rows in bins that are too rare for it, without drift.
	P float64 `json:"p" jsonschema:"minimum=0,maximum=1"`

	// LeftOut is the reason why the column has no alarm, and is not counted among the columns; absent: it is compared.
	LeftOut string `json:"left_out,omitempty"`
	// DesignEffects are the design effects of rows with the same key, before and now; absent without keys.
	DesignEffects *[2]float64 `json:"design_effects,omitempty" jsonschema:"minItems=2,maxItems=2,minimum=1"`

	// Asked is whether the tree tests the column.
	Asked bool `json:"asked,omitempty"`
	// Medians are the bins of the median before and now; absent: the column is not numeric, or has no cuts.
	Medians *[2]string `json:"medians,omitempty" jsonschema:"minItems=2,maxItems=2"`
	// Moved is the bin whose share has changed most or, of a numeric column, the values below a cut or the missing ones.
	// rare or new: the values that were absent or rare in training, with their expected share before.
	Moved MovedBin `json:"moved"`
	// Before are the training rows by bin, as in distribution.json; rows that were held out, by leaf in the order of
	// nodes.
	Before []int64 `json:"before" jsonschema:"minimum=0"`
	Now    []int64 `json:"now" jsonschema:"minimum=0"`

	measures drift.Measures
}

// MovedBin is the bin whose share has changed most.
type MovedBin struct {
	Bin    string  `json:"bin"`
	Before float64 `json:"before" jsonschema:"minimum=0,maximum=1"` // share of the training rows
	Now    float64 `json:"now" jsonschema:"minimum=0,maximum=1"`
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

// Tested returns how many columns, with the leaves, are compared.
func (d *Drift) Tested() (n int) {
	for _, bins := range d.All() {
		if bins.LeftOut == "" {
			n++
		}
	}
	return n
}

// LeftOut lists the columns that are left out: for each reason a text with their names and the reason.
func (d *Drift) LeftOut() (list []string) {
	names := make(map[string][]string)
	var reasons []string
	for _, bins := range d.All() {
		why := bins.LeftOut
		if why == "" {
			continue
		}
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], bins.Column)
	}
	for _, why := range reasons {
		list = append(list, strings.Join(names[why], ", ")+" ("+why+")")
	}
	return list
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

// Compared holds the rows that are compared with training rows.
type Compared struct {
	Codes [][]int64 // rows by feature and code; nil for a feature that was not counted
	// Effects has, by feature, the design effect of the rows' key; nil without a key.
	Effects []float64
	Key     string
}

// Reasons why columns are left out.
const (
	unknownEffect = "rows have a key, and the run does not say how much the rows of a key have in common: an earlier version " +
		"has trained it, or it has too many rows"
	mergedValues = "the compared run merges rare values"
)

// NewDrift measures the drift of rows from the training rows of a model. The training rows have the key
// of the model; empty: they have none. Then the training rows are taken to have as much in common as the compared
// rows of a key in the column where they have most. Compared rows without a key of the model are taken to have
// the design effects of the training rows.
func NewDrift(model string, features []dataset.Feature, before *Distribution, key string, now *Compared) *Drift {
	d := &Drift{
		Format: driftFormat, Version: 1, Model: model, Key: now.Key, Before: before.Rows,
		Columns: make([]DriftedBins, 0, len(features)),
	}
	for i := range features {
		f := &features[i]
		if now.Codes[i] == nil {
			d.Omitted = append(d.Omitted, f.Name)
			continue
		}
		d.Now = drift.Rows(now.Codes[i])
		was := before.Of(f.Name)
		come := drift.Sample{Rows: now.Codes[i]}
		sample := was.sample()
		if now.Effects != nil {
			come.Effect = now.Effects[i]
		}
		if key == "" && now.Effects != nil {
			sample.Effect = slices.Max(now.Effects)
		}
		bins := newDriftedBins(drift.ColumnOf(f), sample, come, key != "" && was.DesignEffect == 0,
			func(code int) string { return spellBin(f, code) })
		bins.Column, bins.Kind = f.Name, f.Kind.String()
		if f.Kind == dataset.Numeric && len(f.Cuts) > 0 {
			bins.addOrder(f)
		}
		d.Columns = append(d.Columns, bins)
	}
	return d
}

// MarkAsked marks the columns that a tree tests.
func (d *Drift) MarkAsked(t *tree.Tree) {
	for i := range d.Columns {
		d.Columns[i].Asked = slices.ContainsFunc(t.Nodes, func(n tree.Node) bool {
			return !n.Leaf() && t.Features[n.Test.Feature].Name == d.Columns[i].Column
		})
	}
}

// addOrder adds what the order of a numeric feature's bins tells: each of many bins moves little where all values move.
func (b *DriftedBins) addOrder(f *dataset.Feature) {
	missing := f.MissingCode()
	var medians [2]string
	var shares [2][]float64 // below each cut, of all rows
	for side, rows := range [2][]int64{b.Before, b.Now} {
		total := drift.Rows(rows)
		known := total - rows[missing]
		below := int64(0)
		for code := range f.Cuts {
			below += rows[code]
			shares[side] = append(shares[side], float64(below)/float64(max(1, total)))
			if medians[side] == "" && known > 0 && 2*below >= known {
				medians[side] = spellBin(f, code)
			}
		}
		if medians[side] == "" && known > 0 {
			medians[side] = spellBin(f, len(f.Cuts))
		}
	}
	b.Medians = &medians
	for k, cut := range f.Cuts {
		b.look("< "+f.Unit.Spell(cut), shares[0][k], shares[1][k])
	}
}

// look takes note of a bin whose share has changed more than the shares of bins before.
func (b *DriftedBins) look(bin string, before, now float64) {
	if b.Moved.Bin == "" || math.Abs(now-before) > math.Abs(b.Moved.Now-b.Moved.Before) {
		b.Moved = MovedBin{bin, before, now}
	}
}

// sample returns the rows as a sample.
func (c *ColumnRows) sample() drift.Sample {
	return drift.Sample{Rows: c.Rows, Effect: c.DesignEffect, Keys: c.Keys}
}

// NewDriftBetween measures the drift of the training rows of a run from the training rows of a
// model, in the bins that both have. Both have a key, or none if it is empty.
func NewDriftBetween(model string, before *Run, key, run string, now *Run, nowKey string) *Drift {
	var features []dataset.Feature
	var omitted []string
	old := &Distribution{Rows: before.Distribution.Rows}
	rows := &Compared{Key: nowKey}
	merged := make(map[string]bool)
	unknown := false
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
		was := *before.Distribution.Of(f.Name)
		came := now.Distribution.Of(f.Name)
		was.Rows = drift.Merge(was.Rows, ofBefore, common.Codes())
		old.Columns = append(old.Columns, was)
		rows.Codes = append(rows.Codes, drift.Merge(came.Rows, ofNow, common.Codes()))
		if nowKey != "" {
			rows.Effects = append(rows.Effects, came.DesignEffect)
			unknown = unknown || came.DesignEffect == 0
		}
		if other := others[at].OtherCode(); other >= 0 && came.Rows[other] > 0 {
			merged[f.Name] = slices.ContainsFunc(f.Values, func(v string) bool { return !slices.Contains(others[at].Values, v) })
		}
	}
	d := NewDrift(model, features, old, key, rows)
	d.Against = run
	d.Omitted = omitted
	d.Now = now.Distribution.Rows
	for i := range d.Columns {
		c := &d.Columns[i]
		switch {
		case unknown:
			c.LeftOut = unknownEffect
		case merged[c.Column]:
			c.LeftOut = mergedValues
		}
		c.measures.LeftOut = c.LeftOut
	}
	return d
}

// AddLeaves measures the drift of the leaves' shares, given rows by leaf before and by node now. The rows of a
// key have as much in common in the leaves as in the column in which they have most.
func (d *Drift) AddLeaves(t *tree.Tree, before, now []int64) {
	var ids []int
	var came []int64
	for id := range t.Nodes {
		if t.Nodes[id].Leaf() {
			ids = append(ids, id)
			came = append(came, now[id])
		}
	}
	was := drift.Sample{Rows: before}
	come := drift.Sample{Rows: came}
	unknown := false
	for i := range d.Columns {
		c := &d.Columns[i]
		if c.DesignEffects != nil {
			was.Effect, come.Effect = max(was.Effect, c.DesignEffects[0]), max(come.Effect, c.DesignEffects[1])
		}
		unknown = unknown || c.LeftOut == unknownEffect
	}
	leaves := newDriftedBins(drift.Column{Other: -1, Missing: -1}, was, come, unknown,
		func(i int) string { return "leaf " + strconv.Itoa(ids[i]) })
	leaves.Column = driftLeaves
	leaves.Kind = driftLeaves
	d.Leaves, d.Now = &leaves, drift.Rows(came)
}

// Judge sets which columns have drifted.
func (d *Drift) Judge(limits drift.Limits) {
	d.FalseAlarms = limits.FalseAlarms
	d.LeastPSI = limits.PSI
	all := d.All()
	measured := make([]drift.Measures, len(all))
	for i := range all {
		measured[i] = all[i].measures
	}
	for i, alarm := range limits.Alarms(measured) {
		all[i].Alarm = alarm
	}
}

// newDriftedBins measures bins. unknown means that the rows before have a key with an unknown design effect. spell
// names a bin.
func newDriftedBins(
	c drift.Column, before, now drift.Sample, unknown bool, spell func(bin int) string,
) DriftedBins {
	if now.Effect == 0 {
		now.Effect = before.Effect
	}
	m := c.Measure(before, now)
	if unknown {
		m.LeftOut = unknownEffect
	}
	b := DriftedBins{
		PSI: m.PSI, ChiSquare: m.ChiSquare, Freedom: m.Freedom, P: m.P, LeftOut: m.LeftOut,
		Before: before.Rows, Now: now.Rows, measures: m,
	}
	if before.Effect > 0 {
		b.DesignEffects = &[2]float64{before.Effect, now.Effect}
	}
	all := max(1, drift.Rows(before.Rows))
	came := max(1, drift.Rows(now.Rows))
	for bin := range before.Rows {
		if m.Rare == nil || !m.Rare[bin] {
			b.look(spell(bin), float64(before.Rows[bin])/float64(all), float64(now.Rows[bin])/float64(came))
		}
	}
	if m.Rare != nil {
		b.look("rare or new", m.RareBefore, m.RareNow)
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

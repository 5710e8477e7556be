package contracts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/csvio"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Infer reads all rows and describes the columns in a contract, in YAML.
func Infer(ctx context.Context, c config.InferContract, reporter engine.Reporter) (text []byte, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		text, err = infer(ctx, s, &c)
		return err
	})
	return text, err
}

func infer(ctx context.Context, s *session.Session, c *config.InferContract) (text []byte, err error) {
	in, err := s.OpenInput(ctx, c.Input)
	if err != nil {
		return nil, err
	}
	if len(in.Tasks) == 0 {
		return nil, &dataset.DataError{File: in.Files[0].URL, Problem: "no input file has a row", Hint: "check the files"}
	}
	err = in.ReadTexts(ctx, s.Files, func(name string) bool {
		return name != c.Label && !slices.Contains(labelNames(), strings.ToLower(name))
	})
	if err != nil {
		return nil, err
	}
	i := &inferring{config: c, session: s, input: in, unread: make(map[string]string)}
	inferred, err := i.infer(ctx)
	if err != nil {
		return nil, err
	}
	if text, err = inferred.Encode(i.head(inferred)); err != nil || c.Output == "" {
		return text, err
	}
	if err := s.Files.Store.Put(ctx, c.Output, text, objectstore.WriteOptions{IfAbsent: true}); err != nil {
		return nil, usage.Errorf("--output: %v", err)
	}
	return text, nil
}

// inferring is a single inference.
type inferring struct {
	config  *config.InferContract
	session *session.Session
	input   *source.Input
	unread  map[string]string // why columns are not read
}

// head returns the comment at the top of the contract.
func (i *inferring) head(c *contract.Contract) []string {
	lines := []string{
		fmt.Sprintf("What the columns of %s are, inferred from %d rows. Edit this file, then check rows against it:",
			strings.Join(i.config.Input, ", "), i.input.Rows),
		"  espalier train --contract FILE ..., and so do predict and evaluate.",
		"role: feature, label, weight, count, key or ignored. A row is refused if its value is below min, above max, missing",
		"where max_missing is 0, or not listed where max_unlisted is 0. Shares and means are checked over all rows.",
	}
	if len(c.With(contract.RoleLabel)) == 0 {
		lines = append(lines, "Which column has the classes? Give it the role label.")
	}
	return lines
}

// infer summarises all columns and describes each. A column that cannot be read gets the role
// ignored.
func (i *inferring) infer(ctx context.Context) (*contract.Contract, error) {
	c := &contract.Contract{
		Format: contract.Format, Version: contract.Version, MinRows: 1, OtherColumns: contract.OthersIgnored,
	}
	for _, name := range i.config.Ignore {
		if !slices.Contains(i.input.Names(), name) {
			return nil, source.UnknownColumn("ignore", name, i.input.Names())
		}
		i.unread[name] = "by --ignore"
	}
	rows := &jobs.RowSpec{}
	rows.Shares[dataset.Train] = 100
	var columns []*parquetio.Column
	for k := range i.input.Columns {
		column := &i.input.Columns[k]
		if why := i.leftOut(column); why != "" {
			c.Columns = append(c.Columns, contract.Column{
				Name: column.Name, Type: contract.TypeText, Role: contract.RoleIgnored, Note: why,
			})
			continue
		}
		kind := dataset.Numeric
		if column.Type == dataset.Text && (!column.Wide || column.Physical != source.InPath) {
			kind = dataset.Categorical
		}
		rows.Features = append(rows.Features, dataset.FeatureColumn{
			Name: column.Name, Kind: kind, Type: column.Type, Unit: column.Unit,
		})
		columns = append(columns, column)
		c.Columns = append(c.Columns, contract.Column{Name: column.Name})
	}
	found, err := i.summarise(ctx, rows)
	var fault *dataset.DataError
	switch {
	case errors.As(err, &fault) && slices.ContainsFunc(columns, func(c *parquetio.Column) bool { return c.Name == fault.Column }):
		if !i.input.Reread(fault.Column, fault.Value) {
			i.unread[fault.Column] = unreadable(fault) // only known now: continue without the column
		}
		return i.infer(ctx)
	case err != nil:
		return nil, err
	}
	next := 0
	for k := range c.Columns {
		if c.Columns[k].Role == "" {
			identity, err := i.input.Identity(ctx, i.session.Files, &rows.Features[next], found[next], i.input.Rows)
			if err != nil {
				return nil, err
			}
			c.Columns[k] = i.column(columns[next], found[next], identity)
			next++
		}
	}
	return c, i.chooseLabel(c, columns, found)
}

// leftOut returns why a column is not read; empty if the column is read.
func (i *inferring) leftOut(column *parquetio.Column) string {
	why, known := i.unread[column.Name]
	var fault *dataset.DataError
	switch {
	case known:
	case column.Nested:
		why = "nested: no test can ask it"
	case column.Null:
		why = "without any value"
	case column.Unsupported != "":
		why = "cannot be read: " + column.Unsupported
	case errors.As(i.input.Check(column), &fault):
		why = unreadable(fault)
	}
	return why
}

func unreadable(e *dataset.DataError) string {
	return "cannot be read: " + (&dataset.DataError{File: e.File, Value: e.Value, Problem: e.Problem}).Error()
}

// summarise runs the pass over the rows.
func (i *inferring) summarise(ctx context.Context, rows *jobs.RowSpec) ([]*binning.Summary, error) {
	_, encoded, err := i.session.Summarise(ctx, "summarise", i.input.Tasks, len(rows.Features), jobs.SummariseConfig{
		Config: i.session.JobConfig(i.session.Temporary + "/summarise"),
		Rows:   rows.Encode(), Limits: binning.DefaultLimits(), Pieces: i.session.Workers(),
	})
	if err != nil {
		return nil, err
	}
	decoded := make([]*binning.Summary, len(rows.Features))
	for k := range decoded {
		if decoded[k], _, err = binning.Decode(encoded[k]); err != nil {
			return nil, err
		}
	}
	return decoded, nil
}

const (
	mostValues    = 100  // columns with more values list none
	fewNumbers    = 10   // at most this many different numbers may be categories
	newValues     = 0.01 // share of the rows that may have unlisted values
	missingFactor = 2    // the share of missing values may double
)

// column describes a column, given its summary.
func (i *inferring) column(column *parquetio.Column, s *binning.Summary, identity binning.Identity) contract.Column {
	c := contract.Column{
		Name: column.Name, Type: typeOf(column), Role: contract.RoleFeature,
		Categorical: s.Type() == dataset.Text,
	}
	missing := float64(s.Missing()) / float64(i.input.Rows)
	allowed := min(1, math.Ceil(missing*missingFactor*100)/100)
	c.MaxMissing = &allowed
	notes := []string{fmt.Sprintf("%d distinct", s.Distinct())}
	if s.Overflow() || !s.Exact() {
		notes[0] = "many distinct"
	}
	if missing > 0 {
		notes = append(notes, fmt.Sprintf("%.3g missing", missing))
	}
	if s.Type() == dataset.Number {
		notes = append(notes, widen(&c, column.Unit, s)...)
	} else if !s.Overflow() {
		values, weights := s.Spelled()
		if 0 < len(values) && len(values) <= mostValues {
			share := newValues
			c.Values = slices.Sorted(slices.Values(values))
			c.MaxUnlisted = &share
		}
		if what := looks(values, weights); what != "" {
			notes = append(notes, "most texts are "+what)
		}
	}
	switch {
	case identity == binning.Boundless:
		notes = append(notes, "more texts than a feature may have")
	case identity == binning.Unseen:
		notes = append(notes, fmt.Sprintf("%.2g of new rows are expected to have another text", s.Unseen(i.input.Rows)))
	case identity == binning.MaybeKey:
		notes = append(notes, "another value in nearly every row: a key?")
	case identity > binning.MaybeKey:
		notes = append(notes, "another value in each row: a key?")
	}
	if identity >= binning.Numbering {
		c.Role = contract.RoleIgnored
		c.Values = nil
		c.MaxUnlisted = nil
	}
	if column.Index {
		c.Role = contract.RoleIgnored
		notes = append(notes, "the index of a data frame")
	}
	c.Note = strings.Join(notes, ", ")
	return c
}

// typeOf returns the type of a column in contracts: integers are numbers, however many digits they
// have.
func typeOf(c *parquetio.Column) string {
	if c.Wide {
		return contract.TypeNumber
	}
	return contract.TypeOf(c.Type, c.Unit)
}

// looks describes what most texts look like, if they look like numbers or points in time.
func looks(values []string, weights []int64) string {
	var l csvio.Looks
	for i, text := range values {
		l.Add(text, weights[i])
	}
	what, _ := l.Mostly()
	return what
}

// widen sets the bounds of numbers, and returns notes about unusual values.
func widen(c *contract.Column, u dataset.Unit, s *binning.Summary) (notes []string) {
	observed := s.Range()
	if observed == nil || math.IsInf(observed[0], 0) || math.IsInf(observed[1], 0) {
		return nil
	}
	notes = []string{"from " + u.Spell(observed[0]) + " to " + u.Spell(observed[1])}
	if u == dataset.Time { // a day has its bounds
		return notes
	}
	low, high := wider(observed[0], observed[1], u)
	if !math.IsInf(low, 0) && !math.IsInf(high, 0) {
		c.Min, c.Max = u.Spell(low), u.Spell(high)
	}
	if n := s.Distinct(); u == dataset.Plain && s.Exact() && n > 2 && n <= fewNumbers {
		notes = append(notes, "few numbers: categorical?")
	}
	return notes
}

// wider adds half of the width of a range on each side. The lower bound is not negative unless some
// number is.
func wider(least, greatest float64, u dataset.Unit) (low, high float64) {
	half := float64((greatest - least) / 2) // rounded separately: nothing to fuse
	low = least - half
	high = greatest + half
	whole := least == math.Trunc(least) && greatest == math.Trunc(greatest) && greatest-least > 1
	if u != dataset.Plain || whole {
		low, high = math.Floor(low), math.Ceil(high)
	} else {
		low, high = sixDigits(low), sixDigits(high)
	}
	if least >= 0 && u == dataset.Plain {
		low = max(0, low)
	}
	return low, high
}

// sixDigits rounds a bound to six significant digits, for readability.
func sixDigits(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64) // its own text
	return rounded
}

// labelNames are the usual names of label columns.
func labelNames() []string { return []string{"class", "label", "target", "y", "outcome"} }

// chooseLabel gives a column the role of the label: the column of --label, or the only column with
// a usual name.
func (i *inferring) chooseLabel(c *contract.Contract, columns []*parquetio.Column, found []*binning.Summary) error {
	name := i.config.Label
	if name == "" {
		var usual []string
		for k, column := range columns {
			if slices.Contains(labelNames(), strings.ToLower(column.Name)) && found[k].Distinct() > 1 {
				usual = append(usual, column.Name)
			}
		}
		if len(usual) != 1 {
			return nil
		}
		name = usual[0]
	}
	at := slices.Index(c.Names(), name)
	if at < 0 {
		return source.UnknownColumn("label", name, c.Names())
	}
	k := slices.IndexFunc(columns, func(column *parquetio.Column) bool { return column.Name == name })
	if k < 0 {
		return usage.Errorf("--label: the column %q is not read: %s", name, c.Columns[at].Note)
	}
	label := &c.Columns[at]
	none := 0.0
	label.Role = contract.RoleLabel
	label.Categorical = false
	if found[k].Missing() > 0 {
		label.Note += ": train leaves out the rows without a label by --drop_null_labels"
	}
	values, _ := found[k].Spelled()
	switch {
	case len(values) <= mostValues && !found[k].Overflow():
	case columns[k].Type == dataset.Number && columns[k].Unit == dataset.Plain:
		label.Note += ": train makes classes of its ranges by --label_cuts"
		return nil
	default:
		return usage.Errorf("--label: the column %q has more than %d values, want classes", name, mostValues)
	}
	label.Min, label.Max = "", ""
	label.Values = slices.Sorted(slices.Values(values))
	label.MaxUnlisted = &none
	return nil
}

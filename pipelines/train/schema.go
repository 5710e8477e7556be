package train

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/slicing"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Role is the role of a column, as in schema.json.
type Role string

// The roles of columns.
const (
	RoleFeature   Role = "feature"
	RoleLabel     Role = "label"
	RoleWeight    Role = "weight"
	RoleCount     Role = "count"
	RoleKey       Role = "key"
	RoleSplit     Role = "split"
	RoleIgnored   Role = "ignored"
	RoleForbidden Role = "forbidden" // read, but never tested
	RoleConstant  Role = "constant"  // one code in all training rows: nothing to test

	RoleProbability Role = "probability" // probability of a class, part of what trees learn from
)

// schema has the role of each column.
type schema struct {
	rows    jobs.RowSpec
	columns []schemaColumn
	slices  []dataset.FeatureColumn // columns of --slice
}

type schemaColumn struct {
	parquetio.Column

	role Role
	kind dataset.Kind // kind of a feature
}

// resolve returns the role of each column.
func resolve(in *source.Input, c *config.Train, p *config.Parsed) (*schema, error) {
	if err := checkFlags(in, c); err != nil {
		return nil, err
	}
	c = withoutIndex(in, c)
	s := &schema{rows: jobs.RowSpec{
		Label: c.Label, Weight: c.Weight, Count: c.Count, DropNullLabels: c.DropNullLabels, LabelCuts: c.LabelCuts,
		Parting: dataset.Parting{SplitColumn: c.SplitColumn, Time: c.SplitTime, Key: c.Group, Shares: c.Split, Seed: c.Seed},
		Groups:  groupsKept(c, p),
	}}
	var err error
	if s.rows.Soft, err = softLabels(in, c); err != nil {
		return nil, err
	}
	if err := s.checkReadable(in, c); err != nil {
		return nil, err
	}
	kind := func(column *parquetio.Column) (dataset.Kind, dataset.Unit) {
		if column.Wide && column.Physical != source.InPath && s.roleOf(column.Name, c) != RoleFeature {
			return dataset.Categorical, column.Unit
		}
		return kindOf(column, c), column.Unit
	}
	if s.slices, err = slicing.Columns(in, c.Slice, c.Label, kind); err != nil {
		return nil, err
	}
	for _, column := range inTestOrder(in.Columns, c.Classes) {
		sc := schemaColumn{Column: column, role: s.roleOf(column.Name, c)}
		if sc.role == RoleIgnored {
			s.columns = append(s.columns, sc)
			continue
		}
		if err := in.CheckAmount(string(sc.role), &column); err != nil { // its flag has the name of the role
			return nil, err
		}
		if err := checkProbability(in, &sc); err != nil {
			return nil, err
		}
		times := sc.role == RoleSplit && column.Name == c.SplitTime
		if times && column.Wide && column.Physical != source.InPath {
			return nil, usage.Errorf("--split_time: column %q has whole numbers that may be beyond 2^53, which floating point cannot hold "+
				"exactly: write times as TIMESTAMP or in microseconds, other numbers as DOUBLE", column.Name)
		}
		if times && column.Type != dataset.Number && !column.Wide {
			return nil, usage.Errorf("--split_time: column %q has texts, booleans or numbers beyond 2^53, expected numbers, dates, times or timestamps",
				column.Name)
		}
		if sc.role == RoleLabel && len(c.LabelCuts) > 0 && column.Unit != dataset.Plain {
			return nil, usage.Errorf("--label_cuts cuts numbers: the label %q has %s", column.Name, column.Unit.Things())
		}
		if sc.role == RoleFeature || sc.role == RoleForbidden {
			sc.kind = kindOf(&column, c)
			s.rows.Features = append(s.rows.Features, dataset.FeatureColumn{
				Name: column.Name, Kind: sc.kind, Type: column.Type, Unit: column.Unit, Zone: column.Zone,
			})
		}
		s.columns = append(s.columns, sc)
	}
	return s, s.checkConstraints(c)
}

// inTestOrder returns columns in the order in which their tests break ties: by name, so that the order of the columns
// in the files does not matter. By the rule of the paper it is the order in the files.
func inTestOrder(columns []parquetio.Column, classes split.Classes) []parquetio.Column {
	if classes == split.OfObjects {
		return columns
	}
	return slices.SortedFunc(slices.Values(columns), func(a, b parquetio.Column) int { return cmp.Compare(a.Name, b.Name) })
}

// groupsKept returns, by part, the number of objects up to which objects keep the groups of their rows,
// for folds and teachers, for intervals, and for the design effects that drift needs.
func groupsKept(c *config.Train, p *config.Parsed) [dataset.Parts]int64 {
	if !c.Dependent() {
		return [dataset.Parts]int64{}
	}
	return groupsOf(max(p.Selection.Groups(), selection.MostMeasured))
}

// groupsOf is groupsKept for this number of training objects.
func groupsOf(train int64) [dataset.Parts]int64 {
	return [dataset.Parts]int64{
		dataset.Train: train, dataset.Validation: selection.MostMeasured, dataset.Test: selection.MostMeasured,
	}
}

func checkFlags(in *source.Input, c *config.Train) error {
	names := in.Names()
	var faults []error
	look := func(flag string, columns ...string) {
		for _, name := range columns {
			if name != "" && !slices.Contains(names, name) {
				faults = append(faults, source.UnknownColumn(flag, name, names))
			}
		}
	}
	look("label", c.Label)
	look("weight", c.Weight)
	look("count", c.Count)
	look("split_column", c.SplitColumn)
	look("group", c.Group)
	look("split_time", c.SplitTime)
	look("ignore", c.Ignore...)
	look("categorical", c.Categorical...)
	look("numeric", c.Numeric...)
	look("ordered", slices.Sorted(maps.Keys(c.Ordered))...)
	look("cuts", slices.Sorted(maps.Keys(c.Cuts))...)
	look("first", c.First...)
	look("forbid", c.Forbid...)
	look("monotone", slices.Sorted(maps.Keys(c.Monotone))...)
	look("absent", slices.Sorted(maps.Keys(c.Absent))...)
	if len(faults) > 0 {
		return usage.All(faults)
	}
	for _, name := range []string{c.Weight, c.Count, c.SplitColumn, c.Group, c.SplitTime} {
		if name != "" && name == c.Label {
			return usage.Errorf("--label: column %q has another use already", name)
		}
	}
	uses := []source.Use{
		{Flag: "weight", Column: c.Weight},
		{Flag: "split_column", Column: c.SplitColumn},
		{Flag: "group", Column: c.Group},
		{Flag: "split_time", Column: c.SplitTime},
	}
	for _, name := range c.Ignore {
		uses = append(uses, source.Use{Flag: "ignore", Column: name})
	}
	return source.CheckCount(c.Count, uses...)
}

func roleOf(name string, c *config.Train) Role {
	is := func(setting string) bool { return setting != "" && setting == name } // columns without a name are features
	switch {
	case is(c.Label):
		return RoleLabel
	case is(c.Weight):
		return RoleWeight
	case is(c.Count):
		return RoleCount
	case is(c.SplitColumn), is(c.SplitTime):
		return RoleSplit
	case is(c.Group):
		return RoleKey
	case slices.Contains(c.Ignore, name):
		return RoleIgnored
	case slices.Contains(c.Forbid, name):
		return RoleForbidden
	default:
		return RoleFeature
	}
}

// withoutIndex returns the configuration with the index columns of a data frame, and columns that only the newest files
// have, among the ignored columns, except columns that a setting names. The index is the position of a row: in sorted rows it
// predicts the class, but not for new rows.
func withoutIndex(in *source.Input, c *config.Train) *config.Train {
	own := *c
	own.Ignore = slices.Clone(c.Ignore)
	for i := range in.Columns {
		name := in.Columns[i].Name
		if (in.Columns[i].Index || slices.Contains(c.NewColumns, name)) && !c.Names(name) {
			own.Ignore = append(own.Ignore, name)
		}
	}
	return &own
}

// wanted reports whether a setting or the contract names a column as a feature.
func (p *plan) wanted(name string) bool {
	return p.config.Names(name) || p.obeyed != nil && slices.Contains(p.obeyed.With(contract.RoleFeature), name)
}

// identity is the identity of a column, with the share of new rows expected to have a text that the training rows lack.
type identity struct {
	binning.Identity

	unseen float64
}

// leaveOutKeys gives columns of keys, and of texts that are too many or mostly unseen in new rows, the role ignored, and returns
// them. It warns of them and of columns that may be keys, unless a column is wanted.
func (p *plan) leaveOutKeys(columns []dataset.FeatureColumn, keys []identity, warn func(text string)) []string {
	var left, maybe, boundless, unseen []string
	for i := range columns {
		switch name := columns[i].Name; {
		case keys[i].Identity == binning.NoKey, p.wanted(name):
		case keys[i].Identity == binning.MaybeKey:
			maybe = append(maybe, name)
		case keys[i].Identity == binning.Boundless:
			boundless = append(boundless, name)
		case keys[i].Identity == binning.Unseen:
			unseen = append(unseen, name)
			warn(fmt.Sprintf("left out %q: %.0f %% of new rows are expected to have a text that no training row has; --categorical %s "+
				"makes it a feature", name, 100*keys[i].unseen, name))
		default:
			left = append(left, name)
		}
	}
	if len(left) > 0 {
		warn(fmt.Sprintf("left out %s: every row has a different value, as in a key or a row number; --numeric or --categorical "+
			"makes it a feature", quoted(left)))
	}
	if len(maybe) > 0 {
		warn(quoted(maybe) + ": all rows with a value, except for at most one, have different whole numbers; if it is a key, --ignore leaves it out")
	}
	if len(boundless) > 0 {
		warn(fmt.Sprintf("left out %s: more than %d different texts, as in names, keys or sentences; group the texts to make a feature "+
			"of them", quoted(boundless), binning.DefaultLimits().Categories))
	}
	left = slices.Concat(left, boundless, unseen)
	p.schema.leaveOut(left)
	return left
}

// keysOf returns the columns of keys that an earlier attempt of the run has left out.
func (p *plan) keysOf(f *fitted) []string {
	known := slices.Concat(f.constant, p.config.Forbid)
	for i := range f.features {
		known = append(known, f.features[i].Name)
	}
	return slices.DeleteFunc(p.schema.featureNames(), func(name string) bool { return slices.Contains(known, name) })
}

// quoted lists names in quotation marks.
func quoted(names []string) string { return strings.Join(naming.Quoted(names), ", ") }

// leaveOut gives features the role ignored.
func (s *schema) leaveOut(names []string) {
	for i := range s.columns {
		if slices.Contains(names, s.columns[i].Name) {
			s.columns[i].role = RoleIgnored
		}
	}
	s.rows.Features = slices.DeleteFunc(slices.Clone(s.rows.Features), func(c dataset.FeatureColumn) bool {
		return slices.Contains(names, c.Name)
	})
}

// noteIndex returns a line about the index columns that are left out; empty without such columns.
func (s *schema) noteIndex(c *config.Train) string {
	var names []string
	for i := range s.columns {
		if column := &s.columns[i]; column.Index && column.role == RoleIgnored && !slices.Contains(c.Ignore, column.Name) {
			names = append(names, column.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("left out: %s, the index of a data frame; --numeric or --categorical makes it a feature", quoted(names))
}

func kindOf(column *parquetio.Column, c *config.Train) dataset.Kind {
	switch {
	case slices.Contains(c.Numeric, column.Name):
		return dataset.Numeric
	case column.Type == dataset.Text && !column.Wide, slices.Contains(c.Categorical, column.Name):
		return dataset.Categorical
	default:
		return dataset.Numeric
	}
}

// checkReadable checks that all columns, except ignored columns, can be read. Its error
// names every column that cannot be read.
func (s *schema) checkReadable(in *source.Input, c *config.Train) error {
	var names []string
	var first *dataset.DataError
	for i := range in.Columns {
		column := &in.Columns[i]
		if s.roleOf(column.Name, c) == RoleIgnored || !column.Nested && column.Unsupported == "" {
			continue
		}
		names = append(names, column.Name)
		if first == nil {
			first = unsupported(in, column, c)
		}
	}
	if len(names) < 2 || slices.Contains(names, c.Label) {
		return asError(first)
	}
	return &dataset.DataError{
		File: first.File,
		Problem: fmt.Sprintf("the columns %q cannot be read: nested ones, or of types that are neither numbers, "+
			"texts nor booleans", names),
		Hint: "leave them out with --ignore " + strings.Join(names, ","),
	}
}

// asError returns e as an error: a nil pointer becomes a nil error.
func asError(e *dataset.DataError) error {
	if e == nil {
		return nil
	}
	return e
}

func unsupported(in *source.Input, column *parquetio.Column, c *config.Train) *dataset.DataError {
	e := &dataset.DataError{
		File: in.Files[in.FileWith(column.Name)].URL, Column: column.Name, Problem: column.Unsupported,
		Hint: "leave it out with --ignore " + column.Name,
	}
	if column.Nested {
		e.Problem = "a nested column, expected a flat one of numbers, texts or booleans"
	}
	if column.Name == c.Label {
		e.Hint = "name another column with --label"
	}
	return e
}

// checkConstraints makes sure that --first, --forbid, --monotone and --ordered name features, --monotone
// numeric or ordered ones, and --ordered ones of texts.
func (s *schema) checkConstraints(c *config.Train) error {
	var faults []error
	for i := range s.columns {
		column := &s.columns[i]
		for _, constraint := range []struct {
			flag  string
			named bool
		}{
			{"first", slices.Contains(c.First, column.Name)},
			{"forbid", slices.Contains(c.Forbid, column.Name)},
			{"monotone", c.Monotone[column.Name] != 0},
			{"ordered", c.Ordered[column.Name] != nil},
			{"cuts", c.Cuts[column.Name] != nil},
			{"absent", c.Absent[column.Name] != ""},
		} {
			if constraint.named && column.role != RoleFeature && column.role != RoleForbidden {
				faults = append(faults, fmt.Errorf("--%s: column %q is not a feature, its role is %s",
					constraint.flag, column.Name, column.role))
			}
		}
		ordered := c.Ordered[column.Name] != nil
		if c.Monotone[column.Name] != 0 && column.kind == dataset.Categorical && !ordered {
			faults = append(faults, fmt.Errorf("--monotone: column %q is categorical, want a numeric or ordered one", column.Name))
		}
		if ordered && (column.Type != dataset.Text || column.Wide || column.Physical == "BOOLEAN") {
			faults = append(faults, fmt.Errorf("--ordered: column %q has numbers or booleans, want texts", column.Name))
		}
	}
	return usage.All(faults)
}

// softLabels returns the columns of --label_probabilities, in the order that their classes would have
// as classes of a label. A pattern does not match columns with another role.
func softLabels(in *source.Input, c *config.Train) (jobs.SoftLabels, error) {
	if len(c.LabelProbabilities) == 0 {
		return jobs.SoftLabels{}, nil
	}
	soft := jobs.SoftLabels{Named: strings.Join(c.LabelProbabilities, ","), TeacherWeight: c.TeacherWeight}
	if c.Label == "" {
		soft.TeacherWeight = 1
	}
	var faults []error
	for _, text := range c.LabelProbabilities {
		named, err := config.ParseProbability(text)
		if err != nil {
			return soft, err
		}
		columns, err := columnsNamed(&named, text, in, c)
		if err != nil {
			faults = append(faults, err)
		}
		for _, column := range columns {
			same := func(o jobs.ProbabilityColumn) bool { return o.Class == column.Class || o.Name == column.Name }
			if at := slices.IndexFunc(soft.Columns, same); at >= 0 {
				faults = append(faults, fmt.Errorf("--label_probabilities: column %q of class %q and column %q of class %q: "+
					"want one column for each class", soft.Columns[at].Name, soft.Columns[at].Class, column.Name, column.Class))
			}
			soft.Columns = append(soft.Columns, column)
		}
	}
	if len(faults) > 0 {
		return soft, usage.All(faults)
	}
	sortClasses(soft.Columns)
	return soft, nil
}

// columnsNamed returns the columns that one item of --label_probabilities names.
func columnsNamed(
	named *config.Probability, text string, in *source.Input, c *config.Train,
) ([]jobs.ProbabilityColumn, error) {
	var columns []jobs.ProbabilityColumn
	for _, name := range in.Names() {
		class := named.ClassOf(name)
		if class == "" {
			continue
		}
		role := roleOf(name, c)
		if role == RoleFeature {
			columns = append(columns, jobs.ProbabilityColumn{Name: name, Class: class})
		} else if named.Column != "" {
			return nil, usage.Errorf("--label_probabilities: column %q has another use already, its role is %s", name, role)
		}
	}
	if len(columns) == 0 && named.Column != "" {
		return nil, source.UnknownColumn("label_probabilities", named.Column, in.Names())
	}
	if len(columns) == 0 {
		return nil, usage.Errorf("--label_probabilities: no column of the input files has a name as %s, among those "+
			"without another use", text)
	}
	return columns, nil
}

// sortClasses sorts columns by their classes: as numbers if all classes are numbers, otherwise as
// texts.
func sortClasses(columns []jobs.ProbabilityColumn) {
	numbers := !slices.ContainsFunc(columns, func(c jobs.ProbabilityColumn) bool {
		_, ok := jobs.ClassNumber(c.Class)
		return !ok
	})
	slices.SortFunc(columns, func(a, b jobs.ProbabilityColumn) int {
		if numbers {
			x, _ := jobs.ClassNumber(a.Class)
			y, _ := jobs.ClassNumber(b.Class)
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a.Class, b.Class)
	})
}

// roleOf returns the role of a column.
func (s *schema) roleOf(name string, c *config.Train) Role {
	if slices.ContainsFunc(s.rows.Soft.Columns, func(o jobs.ProbabilityColumn) bool { return o.Name == name }) {
		return RoleProbability
	}
	return roleOf(name, c)
}

// checkProbability checks that a column of probabilities has numbers.
func checkProbability(in *source.Input, c *schemaColumn) error {
	if c.role != RoleProbability || c.Type == dataset.Number && c.Unit == dataset.Plain {
		return nil
	}
	kind := "text or booleans"
	if c.Type == dataset.Number {
		kind = c.Unit.Things()
	}
	return &dataset.DataError{
		File: in.Files[in.FileWith(c.Name)].URL, Column: c.Name,
		Problem: fmt.Sprintf("a column of %s, and --label_probabilities names it: expected numbers from 0 to 1", kind),
		Hint:    "name the columns of probabilities one by one, as CLASS=COLUMN",
	}
}

// featureNames returns the names of the columns that tests may use.
func (s *schema) featureNames() []string {
	names := make([]string, len(s.rows.Features))
	for i := range s.rows.Features {
		names[i] = s.rows.Features[i].Name
	}
	return names
}

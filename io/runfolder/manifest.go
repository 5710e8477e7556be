package runfolder

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// The formats of manifests, by the kind of the folder.
const (
	formatPrefix = "espalier/"

	ManifestFormat    = "espalier/manifest"
	PredictionsFormat = "espalier/predictions"
	ImportFormat      = "espalier/import"
)

// Manifest is the manifest.json of a training run: its configuration and inputs, its files, and the
// time and memory that it took.
type Manifest struct {
	Format   string    `json:"format" jsonschema:"enum=espalier/manifest"`
	Version  int       `json:"version" jsonschema:"enum=1"`
	Espalier string    `json:"espalier"` // version of the program
	Started  time.Time `json:"started"`
	Seconds  float64   `json:"seconds" jsonschema:"minimum=0"`
	Config   any       `json:"config"` // the settings by the names of their flags: see docs/settings.md
	Inputs   []Input   `json:"inputs"` // empty if the rows are from a Beam pipeline
	// Files are all files except this one and _SUCCESS; a later run into the folder replaces no others. Manifests of
	// earlier versions do not list them.
	Files    []string         `json:"files" jsonschema:"uniqueItems=true"`
	Timings  []Timing         `json:"timings"`
	Counters map[string]int64 `json:"counters"`
	// CopiesBy are the features in which rows are equal that were dealt together as copies; absent if rows were not.
	CopiesBy []string `json:"copies_by,omitempty"`
	// Measured is the work and memory that the run took; absent on an engine outside the process.
	Measured *Measured `json:"measured,omitempty"`

	Origin *Origin `json:"origin,omitempty"` // absent: the run was trained. A promotion keeps the other members of its origin.
}

// Origin is the run from whose frontier the tree of a promotion was chosen.
type Origin struct {
	Run      string            `json:"run"`                                             // folder
	Digest   string            `json:"tree_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"` // digest of its tree.json, in hex
	Promoted time.Time         `json:"promoted"`
	Espalier string            `json:"espalier"` // version of the program that promoted
	By       map[string]string `json:"by"`       // settings of the choice, by flag
}

// Input is one input file.
type Input struct {
	URL          string `json:"url"`
	Size         int64  `json:"size" jsonschema:"minimum=0"`
	FooterDigest string `json:"footer_digest" jsonschema:"pattern=^[0-9a-f]{64}$"` // SHA-256
	Rows         int64  `json:"rows" jsonschema:"minimum=0"`
	RowGroups    int    `json:"row_groups" jsonschema:"minimum=0"`
}

// PredictionsManifest is the _manifest.json in a folder of predictions.
type PredictionsManifest struct {
	Format   string    `json:"format" jsonschema:"enum=espalier/predictions"`
	Version  int       `json:"version" jsonschema:"enum=1"`
	Espalier string    `json:"espalier"` // version of the program
	Started  time.Time `json:"started"`
	Seconds  float64   `json:"seconds" jsonschema:"minimum=0"`
	Config   any       `json:"config"`                                           // the settings by the names of their flags: see docs/settings.md
	Digest   string    `json:"model_digest" jsonschema:"pattern=^[0-9a-f]{64}$"` // SHA-256 of tree.json
	Tree     string    `json:"tree"`                                             // URL of tree.json, in the run that a LATEST.json named
	Date     string    `json:"date,omitempty" jsonschema:"format=date"`          // day of the predictions; absent if they have none
	// InputsDigest is the digest of the tree, the input files and the settings, from which the predictions of a day
	// follow.
	InputsDigest string  `json:"inputs_digest,omitempty" jsonschema:"pattern=^[0-9a-f]{16}$"`
	Inputs       []Input `json:"inputs" jsonschema:"minItems=1"`
	// Outputs are the files of predictions, in the order of the inputs, below the folder.
	Outputs []string `json:"outputs" jsonschema:"minItems=1"`
	// Days are the days of the outputs, if Date is absent: for each output the last date in the paths of the input and
	// the output; empty without a date.
	Days    []string         `json:"days,omitempty"`
	Files   []string         `json:"files" jsonschema:"uniqueItems=true"` // as in manifest.json
	Timings []Timing         `json:"timings"`
	Rows    int64            `json:"rows" jsonschema:"minimum=0"`
	Columns []ColumnNovelty  `json:"columns" jsonschema:"nullable"`          // features that the tree tests
	Scores  *PredictedScores `json:"scores,omitempty"`                       // means over all rows
	Also    []AlsoScored     `json:"also,omitempty" jsonschema:"minItems=1"` // further trees that have scored the rows, by --also
}

// AlsoScored is a further tree of a scoring.
type AlsoScored struct {
	Digest  string           `json:"model_digest" jsonschema:"pattern=^[0-9a-f]{64}$"` // SHA-256 of tree.json
	Tree    string           `json:"tree"`                                             // URL of tree.json, in the run that a LATEST.json named
	Prefix  string           `json:"prefix" jsonschema:"pattern=^also[0-9]*_$"`        // prefix of its columns
	Columns []ColumnNovelty  `json:"columns" jsonschema:"nullable"`                    // features that the tree tests
	Scores  *PredictedScores `json:"scores"`                                           // means over all rows
}

// PredictedScores summarises predictions.
type PredictedScores struct {
	Cost    float64          `json:"cost" jsonschema:"minimum=0"` // mean per row
	Classes []PredictedClass `json:"classes"`
}

// PredictedClass summarises the predictions of a class.
type PredictedClass struct {
	Class       string  `json:"class"`
	Share       float64 `json:"share" jsonschema:"minimum=0,maximum=1"`       // of rows with this prediction
	Probability float64 `json:"probability" jsonschema:"minimum=0,maximum=1"` // mean over all rows
}

// TreeOf returns the URL of the tree.json with a digest; empty if the predictions have no such tree.
func (m *PredictionsManifest) TreeOf(digest string) string {
	if m.Digest == digest {
		return m.Tree
	}
	for i := range m.Also {
		if m.Also[i].Digest == digest {
			return m.Also[i].Tree
		}
	}
	return ""
}

// DayOf returns the day of a file of predictions, given its name below the folder; empty if unknown.
func (m *PredictionsManifest) DayOf(name string) string {
	at := slices.Index(m.Outputs, name)
	switch {
	case at >= 0 && m.Date != "":
		return m.Date
	case at >= 0 && at < len(m.Days):
		return m.Days[at]
	default:
		return ""
	}
}

// dates finds what may be dates in a path.
var dates = regexp.MustCompile(`\d{4}-\d{2}-\d{2}|\d{4}/\d{2}/\d{2}`)

// DateIn returns the last date in a path, such as 2026-11-05 or 2026/11/05; empty without a date.
func DateIn(path string) string {
	for _, found := range slices.Backward(dates.FindAllString(path, -1)) {
		found = strings.ReplaceAll(found, "/", "-")
		if _, err := time.Parse(time.DateOnly, found); err == nil {
			return found
		}
	}
	return ""
}

// ImportManifest is the _manifest.json in a folder with a data set converted from CSV files. The
// same files and settings give the same manifest.
type ImportManifest struct {
	Format   string         `json:"format" jsonschema:"enum=espalier/import"`
	Version  int            `json:"version" jsonschema:"enum=1"`
	Espalier string         `json:"espalier"`                       // version of the program
	Config   any            `json:"config"`                         // the settings by the names of their flags: see docs/settings.md
	Inputs   []ImportInput  `json:"inputs" jsonschema:"minItems=1"` // CSV files, in the order of their rows
	Rows     int64          `json:"rows" jsonschema:"minimum=1"`
	Columns  []ImportColumn `json:"columns" jsonschema:"minItems=1"`                // columns, with the types inferred from all files
	Files    []string       `json:"files" jsonschema:"minItems=1,uniqueItems=true"` // as in manifest.json
}

// ImportInput is a CSV file.
type ImportInput struct {
	URL  string `json:"url"`
	Rows int64  `json:"rows" jsonschema:"minimum=0"`
}

// ImportColumn is a column of CSV files, with the inferred type.
type ImportColumn struct {
	Name    string `json:"name"`
	Type    string `json:"type" jsonschema:"enum=boolean,enum=integer,enum=number,enum=date,enum=time,enum=timestamp,enum=local timestamp,enum=text"`
	Missing int64  `json:"missing" jsonschema:"minimum=0"` // rows without a value
}

// ColumnNovelty counts the rows with a missing or new value in a column.
type ColumnNovelty struct {
	Column  string `json:"column"`
	Missing int64  `json:"missing" jsonschema:"minimum=0"` // rows without a value
	// Unseen is the number of rows with a category that was absent or rare in training, and rows without a value beyond
	// the share of training rows without a value.
	Unseen  int64 `json:"unseen,omitempty" jsonschema:"minimum=0"`
	Outside int64 `json:"outside,omitempty" jsonschema:"minimum=0"` // rows with a number outside the range in training
}

// New returns the number of rows with a value that did not occur in training.
func (c *ColumnNovelty) New() int64 { return c.Unseen + c.Outside }

// Timing is how long a job took.
type Timing struct {
	Job     string  `json:"job"`
	Seconds float64 `json:"seconds" jsonschema:"minimum=0"`
}

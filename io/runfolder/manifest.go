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
	SynthFormat       = "espalier/synth"
	ImportFormat      = "espalier/import"
)

// Manifest is the manifest.json of a training run: its configuration and inputs, its files, and the
// time and memory that it took.
type Manifest struct {
	Format   string           `json:"format"`
	Version  int              `json:"version"`
	Espalier string           `json:"espalier"` // version of the program
	Started  time.Time        `json:"started"`
	Seconds  float64          `json:"seconds"`
	Config   any              `json:"config"` // effective configuration
	Inputs   []Input          `json:"inputs"`
	Files    []string         `json:"files"` // all files except manifest.json and _SUCCESS; a later run may replace them
	Timings  []Timing         `json:"timings"`
	Counters map[string]int64 `json:"counters"`
	Measured *Measured        `json:"measured,omitempty"` // without the work of an engine's processes

	Origin *Origin `json:"origin,omitempty"` // absent: the run was trained. A promotion keeps the other members of its origin.
}

// Origin is the run from whose frontier the tree of a promotion was chosen.
type Origin struct {
	Run      string            `json:"run"`         // folder
	Digest   string            `json:"tree_sha256"` // digest of its tree.json, in hex
	Promoted time.Time         `json:"promoted"`
	Espalier string            `json:"espalier"` // version of the program that promoted
	By       map[string]string `json:"by"`       // settings of the choice, by flag
}

// Input is one input file.
type Input struct {
	URL          string `json:"url"`
	Size         int64  `json:"size"`
	FooterDigest string `json:"footer_digest"` // SHA-256
	Rows         int64  `json:"rows"`
	RowGroups    int    `json:"row_groups"`
}

// PredictionsManifest is the _manifest.json in a folder of predictions.
type PredictionsManifest struct {
	Format       string           `json:"format"`
	Version      int              `json:"version"`
	Espalier     string           `json:"espalier"` // version of the program
	Started      time.Time        `json:"started"`
	Seconds      float64          `json:"seconds"`
	Config       any              `json:"config"`
	Digest       string           `json:"model_digest"`            // digest of tree.json: SHA-256, in hex
	Tree         string           `json:"tree"`                    // URL of tree.json, in the run that a LATEST.json named
	Date         string           `json:"date,omitempty"`          // day; empty: none
	InputsDigest string           `json:"inputs_digest,omitempty"` // of tree, input files and settings, for a day; 16 hexadecimal digits
	Inputs       []Input          `json:"inputs"`
	Outputs      []string         `json:"outputs"`        // in the order of the inputs, below the folder
	Days         []string         `json:"days,omitempty"` // without a date: day of each output, empty if unknown
	Files        []string         `json:"files"`          // as in Manifest
	Timings      []Timing         `json:"timings"`
	Rows         int64            `json:"rows"`
	Columns      []ColumnNovelty  `json:"columns"`
	Scores       *PredictedScores `json:"scores,omitempty"`
	Also         []AlsoScored     `json:"also,omitempty"` // further trees that have scored the rows
}

// AlsoScored is a further tree of a scoring.
type AlsoScored struct {
	Digest  string           `json:"model_digest"`
	Tree    string           `json:"tree"`    // as in PredictionsManifest
	Prefix  string           `json:"prefix"`  // prefix of its columns
	Columns []ColumnNovelty  `json:"columns"` // what was new to the tree
	Scores  *PredictedScores `json:"scores"`
}

// PredictedScores summarises predictions.
type PredictedScores struct {
	Cost    float64          `json:"cost"` // mean per row
	Classes []PredictedClass `json:"classes"`
}

// PredictedClass summarises the predictions of a class.
type PredictedClass struct {
	Class       string  `json:"class"`
	Share       float64 `json:"share"`       // of rows with this prediction
	Probability float64 `json:"probability"` // mean over all rows
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

// SynthManifest is the _manifest.json in a folder with a synthetic data set. Equal data sets have
// equal manifests, whenever and wherever they are generated.
type SynthManifest struct {
	Format   string   `json:"format"`
	Version  int      `json:"version"`
	Espalier string   `json:"espalier"` // version of the program
	Config   any      `json:"config"`
	Files    []string `json:"files"` // as in Manifest
}

// ImportManifest is the _manifest.json in a folder with a data set converted from CSV files. The
// same files and settings give the same manifest.
type ImportManifest struct {
	Format   string         `json:"format"`
	Version  int            `json:"version"`
	Espalier string         `json:"espalier"` // version of the program
	Config   any            `json:"config"`
	Inputs   []ImportInput  `json:"inputs"`
	Rows     int64          `json:"rows"`
	Columns  []ImportColumn `json:"columns"`
	Files    []string       `json:"files"` // as in Manifest
}

// ImportInput is a CSV file.
type ImportInput struct {
	URL  string `json:"url"`
	Rows int64  `json:"rows"`
}

// ImportColumn is a column of CSV files, with the inferred type.
type ImportColumn struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Missing int64  `json:"missing"` // rows without a value
}

// ColumnNovelty counts the rows with a missing or new value in a column.
type ColumnNovelty struct {
	Column  string `json:"column"`
	Missing int64  `json:"missing"` // no value
	// Unseen counts categories without a code, which were absent or rare in training, and missing
	// values beyond the share of training rows without a value.
	Unseen  int64 `json:"unseen,omitempty"`
	Outside int64 `json:"outside,omitempty"` // numbers outside the range in training
}

// New returns the number of rows with a value that did not occur in training.
func (c *ColumnNovelty) New() int64 { return c.Unseen + c.Outside }

// Timing is how long a job took.
type Timing struct {
	Job     string  `json:"job"`
	Seconds float64 `json:"seconds"`
}

package runfolder

import "time"

// The formats by which manifest.json says what its folder has.
const (
	ManifestFormat    = "espalier/manifest"
	PredictionsFormat = "espalier/predictions"
	SynthFormat       = "espalier/synth"
)

// Manifest is manifest.json: what a run read, with which configuration, and
// how it went.
type Manifest struct {
	Format   string           `json:"format"`
	Version  int              `json:"version"`
	Espalier string           `json:"espalier"` // version of the program
	Started  time.Time        `json:"started"`
	Seconds  float64          `json:"seconds"`
	Config   any              `json:"config"` // effective
	Inputs   []Input          `json:"inputs"`
	Files    []string         `json:"files"` // that the run wrote, beside this one and _SUCCESS: a later run replaces no others
	Timings  []Timing         `json:"timings"`
	Counters map[string]int64 `json:"counters"`
	Estimate *Estimate        `json:"estimate,omitempty"` // of before the run
	Measured *Estimate        `json:"measured,omitempty"` // after it; engines count in processes of their own
}

// Input is one input file.
type Input struct {
	URL          string `json:"url"`
	Size         int64  `json:"size"`
	FooterDigest string `json:"footer_digest"` // SHA-256
	Rows         int64  `json:"rows"`
	RowGroups    int    `json:"row_groups"`
}

// PredictionsManifest is the manifest.json beside predictions.
type PredictionsManifest struct {
	Format   string          `json:"format"`
	Version  int             `json:"version"`
	Espalier string          `json:"espalier"` // version of the program
	Started  time.Time       `json:"started"`
	Seconds  float64         `json:"seconds"`
	Config   any             `json:"config"`
	Digest   string          `json:"model_digest"` // of tree.json: SHA-256, in hex
	Inputs   []Input         `json:"inputs"`
	Outputs  []string        `json:"outputs"` // in the order of the inputs, below the folder
	Files    []string        `json:"files"`   // all that was written, beside this one and _SUCCESS: a later run replaces no others
	Timings  []Timing        `json:"timings"`
	Rows     int64           `json:"rows"`
	Columns  []ColumnNovelty `json:"columns"`
}

// SynthManifest is the manifest.json beside a made-up data set. It does not depend on time
// or place.
type SynthManifest struct {
	Format   string   `json:"format"`
	Version  int      `json:"version"`
	Espalier string   `json:"espalier"` // version of the program
	Config   any      `json:"config"`
	Files    []string `json:"files"` // all that was written, beside this one and _SUCCESS: a later run replaces no others
}

// ColumnNovelty counts the rows by what is new about a column's values.
type ColumnNovelty struct {
	Column  string `json:"column"`
	Missing int64  `json:"missing"`           // no value
	Unseen  int64  `json:"unseen,omitempty"`  // a category that training did not have, or had too seldom
	Outside int64  `json:"outside,omitempty"` // a number outside of the range that training had
}

// Timing is how long a job took.
type Timing struct {
	Job     string  `json:"job"`
	Seconds float64 `json:"seconds"`
}

package config

import (
	"errors"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Values of --report of train.
const (
	ReportHTML = "html"
	ReportNone = "none"

	ReportMarkdown = "markdown" // --format of report: a model card
)

// Report is the configuration of a report of a run. Settings declares the meaning of each field,
// which docs/settings.md lists.
type Report struct {
	Run       string // run folder or LATEST.json
	Output    string // file; empty: report.html or model_card.md of the run folder
	Format    string // html or markdown
	Notes     string // for markdown: file of remarks by people about the model; optional
	Previous  string // run folder of an earlier run, or LATEST.json; optional
	Row       string // FILE:N; optional
	Overwrite bool

	StorageConfig
}

// DefaultReport compares with no run and shows no row.
func DefaultReport() Report {
	return Report{Format: ReportHTML, StorageConfig: DefaultStorageConfig()}
}

// Settings declares the settings of a report, which set the fields of c.
func (c *Report) Settings() []setting.Setting {
	return append(setting.In(setting.Run, []setting.Setting{
		{
			Name: "output", Value: setting.Text(&c.Output),
			Help: "file or URL to write (default: report.html or model_card.md in the run folder)",
		},
		{
			Name: "format", Value: setting.OneOf(&c.Format, ReportHTML, ReportMarkdown),
			Help: "html: a page to read the tree by; markdown: a model card",
		},
		{
			Name: "notes", Value: setting.Text(&c.Notes),
			Help: "file in YAML or Markdown with what only people can say, for the model card",
		},
		{
			Name: "previous", Value: setting.Text(&c.Previous),
			Help: "run folder of an earlier run, or LATEST.json: the report also says what has changed since",
		},
		{
			Name: "row", Value: setting.Text(&c.Row),
			Help: "FILE:N, row N of a Parquet file, counted from 0: the report opens with its path",
		},
		{
			Name: "overwrite", Value: setting.Switch(&c.Overwrite),
			Help: "replace an existing report",
		},
	}), c.StorageConfig.Settings()...)
}

// Validate returns all faults at once.
func (c *Report) Validate() error {
	faults := setting.Faults(c.Settings())
	if c.Run == "" {
		faults = append(faults, errors.New("which run? name a run folder"))
	}
	switch card := c.Format == ReportMarkdown; {
	case card && (c.Row != "" || c.Previous != ""):
		faults = append(faults, errors.New("--row and --previous are for --format html: a model card has neither"))
	case !card && c.Notes != "":
		faults = append(faults, errors.New("--notes is for --format markdown: the page has no place for notes"))
	}
	return usage.All(faults)
}

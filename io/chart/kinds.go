package chart

import (
	"fmt"

	"github.com/espalier-ml/espalier/io/runfolder"
)

// Kind is a kind of picture of a run.
type Kind struct {
	Name     string // name in settings
	Help     string // what the picture shows
	Document string // document of the run folder that the picture shows
	// Draw draws the document in r. class names the only class to show; empty: all. The error
	// describes what the run lacks.
	Draw func(r *runfolder.Run, class string) (*Picture, error)
}

// NameROC is the name of the kind of picture that can show a single class.
const NameROC = "roc"

// Kinds lists the kinds of pictures. The first is the default.
func Kinds() []Kind {
	return []Kind{
		{
			"frontier", "the AUC of the frontier's trees over their expected cost, on validation and test rows with 95 % " +
				"intervals; the run's tree is marked", runfolder.FrontierName,
			func(r *runfolder.Run, _ string) (*Picture, error) {
				if r.Frontier == nil {
					return nil, fmt.Errorf("there is no %s: the run had one tree and nothing to choose; train with a rule that "+
						"chooses, such as --select best", runfolder.FrontierName)
				}
				return Frontier(r.Frontier)
			},
		},
		{
			NameROC, "the ROC curve of each class against the rest, on test rows, else on validation rows",
			runfolder.MetricsName,
			func(r *runfolder.Run, class string) (*Picture, error) { return ROC(r.Metrics, class) },
		},
		{
			"calibration", "mean probability against observed share, with the rows of each bin", runfolder.MetricsName,
			func(r *runfolder.Run, _ string) (*Picture, error) { return Calibration(r.Metrics) },
		},
		{
			"importance", "the AUC that the tree loses without a feature, also by unit of its cost", runfolder.ImportanceName,
			func(r *runfolder.Run, _ string) (*Picture, error) {
				if r.Importance == nil {
					return nil, fmt.Errorf("there is no %s: an earlier version has written the run; train again",
						runfolder.ImportanceName)
				}
				return Importance(r.Importance)
			},
		},
	}
}

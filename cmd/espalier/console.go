package main

import (
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// console reports the work of a verb on stderr.
type console struct {
	progress, logFormat string
	verbose             bool
}

// The values of --progress and --log_format.
const (
	progressAuto  = "auto"
	progressBar   = "bar"
	progressPlain = "plain"
	progressNone  = "none"

	logText = "text"
	logJSON = "json"
)

func newConsole() console { return console{progress: progressAuto, logFormat: logText} }

// printedSettings declares --progress, --log_format and, of a verb with jobs, --verbose: others have no log
// of the SDK to show.
func (o *console) printedSettings(jobs bool) []setting.Setting {
	list := setting.In(setting.Printed, []setting.Setting{
		{
			Name:  "progress",
			Value: setting.OneOf(&o.progress, progressAuto, progressBar, progressPlain, progressNone),
			Help: "on stderr: auto (a line with the time left, if the run takes longer than two seconds), bar (a bar for " +
				"each job), plain (lines about each job and remarks), or none",
		},
		{
			Name: "log_format", Value: setting.OneOf(&o.logFormat, logText, logJSON),
			Help: "form of stderr: text for people; or json, a line for each phase, warning and error, with figures",
		},
	})
	if jobs {
		list = append(list, setting.Setting{
			Name: "verbose", Group: setting.Printed, Value: setting.Switch(&o.verbose), Help: "show the log of the Beam SDK",
		})
	}
	return list
}

// begin prepares the SDK, and returns what shows progress. about describes the run in the log, as slog.Logger.With
// takes it.
func (o *console) begin(c *cobra.Command, about ...any) (engine.Reporter, error) {
	reporter, err := o.reporter(c, about...)
	if err != nil {
		return nil, err
	}
	return reporter, initBeam(o.verbose, slog.New(o.handler(c.ErrOrStderr())))
}

// handler returns the handler of a log.
func (o *console) handler(w io.Writer) slog.Handler {
	if o.logFormat == logJSON {
		return slog.NewJSONHandler(w, nil)
	}
	return slog.NewTextHandler(w, nil)
}

// reporter returns what shows progress.
func (o *console) reporter(c *cobra.Command, about ...any) (engine.Reporter, error) {
	if faults := setting.Faults(o.printedSettings(false)); len(faults) > 0 {
		return nil, usage.All(faults)
	}
	if o.logFormat != logJSON {
		return newReporter(o.progress, c.ErrOrStderr())
	}
	e := eventsOf(c.Context())
	e.log = slog.New(o.handler(c.ErrOrStderr())).With("verb", c.Name()).With(about...)
	return newLogged(e.log, o.progress != progressNone), nil
}

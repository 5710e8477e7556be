// Command experiments runs the experiments of the paper on a folder of data sets.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/bench/experiments/benchmark"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

const about = `Runs the experiments of the paper on the data sets of a folder:

  experiments data --output runs/experiments
  experiments data --sets iris,phoneme --splits 3 --output runs/few
  experiments data --published figures.csv --output runs/published

A data set is a Parquet file of the folder, or a folder of Parquet files in it.
README.md next to this program describes MANIFEST.tsv, what is run and what is
written. The same command goes on from the splits that are finished.

Flags:
`

// The program has the exit codes of espalier.
const (
	exitInternal    = 1
	exitUsage       = 2
	exitData        = 3
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	slog.SetDefault(slog.New(slog.DiscardHandler))
	beamlog.SetLogger(noLog{})
	os.Exit(start(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// start runs a command line and returns its exit code. It reports an error on stderr.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := run(ctx, args, stdout, stderr)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	say(stderr, "experiments: %v\n", err)
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, new(*usage.Error)):
		return exitUsage
	case errors.As(err, new(*dataset.DataError)):
		return exitData
	default:
		return exitInternal
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := benchmark.DefaultConfig()
	quiet := false
	settings := append(c.Settings(), setting.Setting{
		Name: "quiet", Group: setting.Printed, Value: setting.Switch(&quiet), Help: "no progress on stderr",
	})
	flags := pflag.NewFlagSet("experiments", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.SetOutput(stdout)
	flags.Usage = func() { say(stdout, "%s%s", about, flags.FlagUsagesWrapped(80)) }
	for _, s := range settings {
		one := flags.VarPF(s.Value, s.Name, "", s.Help)
		if s.Value.Type() == "bool" {
			one.NoOptDefVal = "true" // value of the flag without an argument
		}
	}
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return err
	} else if err != nil {
		return usage.Errorf("%v", err)
	}
	if flags.NArg() != 1 {
		return usage.Errorf("want one folder of data sets: experiments data --output runs/experiments")
	}
	c.Folder = flags.Arg(0)
	reporter := engine.Reporter(engine.Silent{})
	if !quiet {
		reporter = &progress{w: stderr}
	}
	r, err := benchmark.Run(ctx, c, reporter)
	if err != nil {
		return err
	}
	say(stdout, "%d splits\nwrote %s and %d pictures\n", len(r.Splits), strings.Join(r.Files, " "), r.Pictures)
	return nil
}

// say writes to stdout or stderr, whose errors cannot be reported anywhere.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// progress writes a line for each finished split. It is a Reporter.
type progress struct {
	w     io.Writer
	total int64
	unit  string
}

func (p *progress) Job(_ string, total int64, unit string) {
	p.total = total
	p.unit = unit
}

func (p *progress) Step(done int64, note string) {
	say(p.w, "%d of %d %s: %s\n", done, p.total, p.unit, note)
}
func (p *progress) Warn(text string) { say(p.w, "warning: %s\n", text) }
func (p *progress) Note(text string) { say(p.w, "%s\n", text) }

// noLog keeps the log of the Beam SDK off stderr.
type noLog struct{}

func (noLog) Log(context.Context, beamlog.Severity, int, string) {}

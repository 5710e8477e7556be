package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// start runs a command line and returns its exit code. It prints an error to stderr as a single
// sentence.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	log := &events{started: time.Now()}
	out := &printer{to: stdout}
	notes := &printer{to: stderr}
	stdout = out
	stderr = notes
	defer out.end()
	defer notes.end()
	defer func() {
		if r := recover(); r != nil {
			how := byNature[usage.Internal]
			code = how.code
			log.end(stderr, how, internalError(r))
		}
	}()
	boundGarbage()
	err := profiled(func() error { return run(context.WithValue(ctx, eventsKey{}, log), args, stdout, stderr) })
	how, text := ended(ctx, err)
	log.end(stderr, how, text)
	return how.code
}

// say writes to stderr. An error of stderr cannot be reported anywhere.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// run carries out a command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	page := pageWidth(stdout)
	root := newRoot(page) //nolint:contextcheck // verbs get the context from ExecuteContext
	args, all := asksForAll(args)
	if !all {
		root.SetHelpFunc(briefHelp(page))
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root.ExecuteContext(ctx)
}

// newRoot returns the command with its verbs. page is the width of the help in characters; 0 if the
// output is not a terminal.
func newRoot(page int) *cobra.Command {
	root := &cobra.Command{
		Use:   "espalier",
		Short: "Small, accurate classification trees that are cheap to use",
		Long: `Espalier trains small, accurate classification trees whose tests cost
something to ask. Parquet in, JSON tree out.

` + exitCodes(),
		Example: `  espalier train --input 'data/*.parquet' --label class --output runs/first
  espalier show runs/first
  espalier report runs/first --overwrite --previous runs/older
  espalier frontier runs/first
  espalier ask runs/first
  espalier evaluate runs/first --input 'labelled/*.parquet'
  espalier evaluate runs/first --against runs/second --input 'labelled/*.parquet'
  espalier predict runs/first --input 'new/*.parquet' --output scored`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownVerb,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if c.Flags().Lookup(configFlag) != nil || c.Name() == "frontier" { // the file, or the run, may set what a flag empties
			return nil
		}
		return new(configFile).emptied(c.Flags())
	}
	cobra.EnableCommandSorting = false // they stand in the order of the work
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usageText(page))
	root.SetHelpFunc(help(page))
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(newHelp(page))
	for _, verb := range verbs() {
		if !root.ContainsGroup(verb.GroupID) {
			root.AddGroup(&cobra.Group{ID: verb.GroupID, Title: verb.GroupID})
		}
		root.AddCommand(verb)
	}
	root.AddCommand(newVersion())
	return root
}

// The stages of the work with trees. Each verb names its stage.
const (
	prepareStage = "Prepare"
	trainStage   = "Train"
	lookStage    = "Look"
	useStage     = "Use"
	keepStage    = "Keep"
)

// verbs returns the verbs in the order of the work, as the help lists them.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		newImport(), newContract(), newTrain(), newFrontier(), newShow(), newReport(), newEvaluate(),
		newPredict(), newAsk(), newExport(), newRetrain(), newDrift(),
	}
}

func unknownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if err := renamedVerb(args[0]); err != nil {
		return err
	}
	return usage.Errorf("unknown verb %q%s (espalier help lists them)", args[0], setting.Near(args[0], verbNames(c)))
}

func verbNames(c *cobra.Command) []string {
	var names []string
	for _, verb := range c.Commands() {
		names = append(names, verb.Name())
	}
	return names
}

// flagError turns an error of the flag library into a usage error, and proposes the
// nearest flag. The flags of an unknown verb are unknown as well: the error is about the verb.
func flagError(c *cobra.Command, err error) error {
	if args := c.Flags().Args(); !c.HasParent() && len(args) > 0 {
		return unknownVerb(c, args)
	}
	text := err.Error()
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && renamedFlag(unknown.GetSpecifiedName(), c.Flags()) != "":
		text = fmt.Sprintf("--%s is --%s now", unknown.GetSpecifiedName(), renamedFlag(unknown.GetSpecifiedName(), c.Flags()))
	case errors.As(err, &unknown):
		text += nearestFlag(unknown.GetSpecifiedName(), c.Flags(), "; did you mean --%s?")
	case errors.As(err, &invalid):
		text = fmt.Sprintf("--%s %s: %s", invalid.GetFlag().Name, setting.Word(invalid.GetValue()), wanted(invalid))
	case errors.As(err, &missing):
		text = fmt.Sprintf("--%s: a value is missing behind it", missing.GetSpecifiedName())
	}
	return &usage.Error{Problem: text}
}

// wanted returns which values a flag takes, for a message about another value.
func wanted(invalid *pflag.InvalidValueError) string {
	switch invalid.GetFlag().Value.Type() { // flags of the SDK
	case "bool":
		return "want true or false"
	case "int", "uint":
		return "want a whole number"
	default:
		return invalid.Unwrap().Error()
	}
}

// anyNumber is the greatest number of arguments of a verb that takes any number of them.
const anyNumber = math.MaxInt

// arguments returns a check of how many arguments a verb gets: 1 to most. problem describes what it takes.
func arguments(most int, problem string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 || len(args) > most {
			return &usage.Error{Problem: problem}
		}
		return nil
	}
}

// noArguments refuses arguments that are not flags. Their likely cause is a glob without quotes.
func noArguments(c *cobra.Command, args []string) error {
	args, err := takeConfig(c, args)
	if err != nil || len(args) == 0 {
		return err
	}
	if c.Flags().Lookup("input") == nil {
		return usage.Errorf("unexpected argument %q", args[0])
	}
	return &usage.Error{Problem: fmt.Sprintf("unexpected argument %q: globs go into --input in quotes, so that the "+
		"shell leaves them alone", args[0])}
}

// initBeam prepares the SDK for running pipelines. The SDK and the engines log every
// failing DoFn. The driver reports the failure in one sentence itself, so their log is
// shown only with verbose.
func initBeam(verbose bool, log *slog.Logger) error {
	if err := flag.CommandLine.Parse(nil); err != nil {
		return err
	}
	beam.Init() // sets the log up for a worker
	if !verbose {
		log = slog.New(slog.DiscardHandler)
	}
	slog.SetDefault(log)
	beamlog.SetLogger(sdkLog{})
	return nil
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/textview"
)

// helpAll is the flag that asks for the whole help of a verb.
const helpAll = "--help_all"

// asksForAll takes --help_all out of a command line, and reports whether it was there. Arguments
// after "--" are not flags.
func asksForAll(args []string) ([]string, bool) {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	at := slices.Index(args[:end], helpAll)
	if at < 0 {
		return args, false
	}
	args = slices.Clone(args)
	args[at] = "--help"
	return args, true
}

// commonKey is the annotation of a verb that lists its common settings.
const commonKey = "espalier_common"

// common returns the annotation of a verb whose help lists only these settings, the settings that most users
// need, separated by spaces. The help of other verbs lists all settings.
func common(settings string) map[string]string { return map[string]string{commonKey: settings} }

// briefHelp returns a function that prints help which fits on a screen. For the program, it prints
// its verbs and topics; for a verb, what it does, an example, and its common settings.
func briefHelp(page int) func(*cobra.Command, []string) {
	page = helpPage(page)
	return func(c *cobra.Command, _ []string) {
		var b strings.Builder
		if c.HasParent() {
			writeBrief(&b, c, page)
		} else {
			writeStages(&b, c, page)
		}
		_, _ = io.WriteString(c.OutOrStdout(), b.String()) // a pager may have been closed
	}
}

// writeStages writes what the program does, its verbs in the order of the work, and the topics. page is the width.
func writeStages(b *strings.Builder, root *cobra.Command, page int) {
	b.WriteString("Espalier trains small, accurate classification trees that ask only what they\nneed.\n\n" +
		"  espalier train --input 'data/*.parquet' --label class --output runs/first\n" +
		"  espalier show runs/first\n" +
		"  espalier predict --model runs/first --input 'new/*.parquet' --output scored\n")
	for _, stage := range root.Groups() {
		fmt.Fprintf(b, "\n%s:\n", stage.Title)
		for _, verb := range root.Commands() {
			if verb.GroupID == stage.ID {
				fmt.Fprintf(b, "  %-13s %s\n", verb.Name(), verb.Short)
			}
		}
	}
	topics := topicNames()
	b.WriteString("\n" + textview.Wrapped(fmt.Sprintf("Start here: espalier help %s. Then: %s. One line each: espalier help topics.",
		topics[0], strings.Join(topics[1:], ", ")), page, "") + "\n")
	b.WriteString("Settings: espalier VERB --help prints the common ones, --help_all all of them.\n")
}

// writeBrief writes the brief help of a verb.
func writeBrief(b *strings.Builder, c *cobra.Command, page int) {
	fmt.Fprintf(b, "%s.\n\nUsage:\n  %s\n", c.Short, c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(b, "\nExample:\n%s\n", firstExample(c.Example))
	}
	wanted := strings.Fields(c.Annotations[commonKey])
	shown := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	shown.SortFlags = false
	all := 0
	title := "Settings"
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		all++
		if len(wanted) == 0 {
			shown.AddFlag(f)
		}
	})
	for _, name := range wanted {
		if f := c.LocalFlags().Lookup(name); f != nil {
			brief := *f
			if first, _, _ := strings.Cut(f.Usage, ";"); !strings.Contains(first, ": ") { // not a list of values
				brief.Usage = first
			}
			shown.AddFlag(&brief)
		}
	}
	if len(wanted) > 0 {
		title = "Common settings"
	}
	if shown.HasAvailableFlags() {
		fmt.Fprintf(b, "\n%s:\n%s", title, shown.FlagUsagesWrapped(page))
	}
	more := fmt.Sprintf("\nMore: %s %s", c.CommandPath(), helpAll)
	if len(wanted) > 0 {
		more += fmt.Sprintf(" (all %d settings)", all)
	}
	b.WriteString(more + "\n")
	for _, sub := range c.Commands() {
		fmt.Fprintf(b, "Also: %s: %s\n", sub.CommandPath(), sub.Short)
	}
}

// firstExample returns the first command of the examples, including its continuation lines.
func firstExample(examples string) string {
	var lines []string
	for line := range strings.SplitSeq(examples, "\n") {
		lines = append(lines, line)
		if !strings.HasSuffix(line, "\\") {
			break
		}
	}
	return strings.Join(lines, "\n")
}

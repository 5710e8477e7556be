package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
)

// sections returns the titles of the sections of flags, in the order of the help.
func sections() []string {
	var titles []string
	for _, group := range setting.Groups() {
		titles = append(titles, group.String())
	}
	return titles
}

// pipePage is the width of help that is not printed to a terminal, but for example to a pager.
const pipePage = 80

// maxHelp is the width beyond which lines of help are hard to read.
const maxHelp = 110

// helpPage returns the width of help, given the width of a page; 0 if the output is not a terminal.
func helpPage(page int) int {
	if page == 0 {
		return pipePage
	}
	return min(page, maxHelp)
}

// help returns the function that prints the help of a verb: its purpose, then its usage.
func help(page int) func(*cobra.Command, []string) {
	page = helpPage(page)
	return func(c *cobra.Command, _ []string) {
		about := c.Long
		if about == "" {
			about = c.Short
		}
		// a pager may have been closed
		_, _ = fmt.Fprintf(c.OutOrStdout(), "%s\n\n%s", reflowed(about, page), c.UsageString())
	}
}

// reflowed wraps paragraphs again. Paragraphs with indented lines stay as they are.
func reflowed(text string, page int) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains("\n"+p, "\n ") && !strings.Contains("\n"+p, "\n\t") {
			paragraphs[i] = textview.Wrapped(strings.Join(strings.Fields(p), " "), page, "")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// usageText returns a function that prints the usage of a verb. page is the width of the page; 0 if
// the output is not a terminal.
func usageText(page int) func(*cobra.Command) error {
	page = helpPage(page)
	return func(c *cobra.Command) error {
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
		if c.HasAvailableSubCommands() {
			fmt.Fprintf(&b, "  %s VERB --help\n", c.CommandPath())
		}
		if c.HasExample() {
			fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
		}
		if c.HasAvailableSubCommands() {
			b.WriteString("\nVerbs:\n")
			for _, verb := range c.Commands() {
				if verb.IsAvailableCommand() || verb.Name() == "help" {
					fmt.Fprintf(&b, "  %-*s  %s\n", c.NamePadding(), verb.Name(), verb.Short)
				}
			}
		}
		for _, name := range sections() {
			writeSection(&b, c.LocalFlags(), name, page)
		}
		writeSection(&b, c.LocalFlags(), "", page)
		_, err := io.WriteString(c.OutOrStderr(), b.String())
		return err
	}
}

// writeSection writes the flags of a section. Flags without a section come under "Flags". The flags of engines have a
// page of their own.
func writeSection(b *strings.Builder, flags *pflag.FlagSet, name string, page int) {
	part := pflag.NewFlagSet(name, pflag.ContinueOnError)
	part.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && strings.Join(f.Annotations[sectionKey], "") == name {
			part.AddFlag(f)
		}
	})
	if !part.HasAvailableFlags() {
		return
	}
	text := part.FlagUsagesWrapped(page)
	switch name {
	case "":
		name = "Flags"
	case setting.Engines.String():
		text = "  espalier help engines\n"
	}
	fmt.Fprintf(b, "\n%s:\n%s", name, text)
}

package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/docs"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/usage"
)

// newHelp returns the verb help. It prints the help of a verb, or a page of the
// documentation. page is the width of the terminal; 0: there is none.
func newHelp(page int) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB | TOPIC]",
		Short: "Print the help of a verb, or a page of the documentation",
		Args: func(c *cobra.Command, args []string) error {
			_, _, err := findHelp(c.Root(), args)
			return err
		},
		RunE: func(c *cobra.Command, args []string) error {
			verb, topic, err := findHelp(c.Root(), args)
			if err != nil {
				return err
			}
			if verb == nil {
				_, err := io.WriteString(c.OutOrStdout(), readable(topic.Text, helpPage(page)))
				return err
			}
			verb.InitDefaultHelpFlag()
			return verb.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return append(verbNames(c.Root()), topicNames()...), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// findHelp returns the verb or the page of the documentation with a name; the other one is
// nil. Without names it returns the root.
func findHelp(root *cobra.Command, names []string) (*cobra.Command, *docs.Page, error) {
	if len(names) == 1 {
		if names[0] == "topics" {
			return nil, topicList(), nil
		}
		if topic, ok := docs.Find(synonym(names[0])); ok {
			return nil, &topic, nil
		}
	}
	verb := root
	for _, name := range names {
		at := slices.IndexFunc(verb.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
		if at < 0 {
			return nil, nil, unknownTopic(verb, name)
		}
		verb = verb.Commands()[at]
	}
	return verb, nil, nil
}

// unknownTopic refuses a name that is neither a verb nor a topic, and proposes the nearest
// name.
func unknownTopic(c *cobra.Command, name string) error {
	hint := ""
	if near := naming.Nearest(name, append(verbNames(c), topicNames()...)); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return &usage.Error{Problem: fmt.Sprintf("no help on %q%s (espalier help lists verbs and topics)", name, hint)}
}

func topicNames() []string {
	var names []string
	for _, page := range docs.Pages() {
		names = append(names, page.Name)
	}
	return names
}

// topicList returns a page with the topics.
func topicList() *docs.Page {
	var b strings.Builder
	b.WriteString("# Topics (espalier help TOPIC)\n\n```text\n")
	for _, page := range docs.Pages() {
		fmt.Fprintf(&b, "%-17s  %s\n", page.Name, page.Title)
	}
	b.WriteString("```\n")
	return &docs.Page{Name: "topics", Text: b.String()}
}

// synonym returns the topic that is meant by a word that people look for; other words stay.
func synonym(word string) string {
	for topic, words := range map[string]string{
		"data":       "csv parquet excel missing nulls dates input columns",
		"costs":      "money price prices cost euros groups weights priors",
		"budgets":    "budget limits limit select choice pruning certificate folds validation",
		"reading":    "confusion importance tree rules plots roc calibration",
		"retraining": "rollback nightly cron schedule gate promote production",
		"scoring":    "score prediction probabilities unseen explain",
		"shipping":   "deploy code exports python-export",
		"models":     "accuracy lightgbm boosting leaf-models teacher",
		"scale":      "memory speed big dataflow-size",
		"engines":    "flink spark dataflow prism runner workers",
		"sql":        "database postgres postgresql duckdb sqlite bigquery",
		"monitoring": "psi alarms drifted",
		"go":         "golang beam transforms",
	} {
		if slices.Contains(strings.Fields(words), strings.ToLower(word)) {
			return topic
		}
	}
	return word
}

// link finds a link of Markdown: its text and its target.
var link = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]+)\)`)

// readable turns Markdown into plain text of a width. It wraps paragraphs and items of
// lists, names the topics of links to other pages, and indents fenced blocks. Headings and
// tables stay as they are: they read well in a terminal.
func readable(markdown string, width int) string {
	var b strings.Builder
	var text []string // the lines of the paragraph or item that is being read
	flush := func() {
		if len(text) > 0 {
			b.WriteString(wrappedItem(strings.Join(text, " "), width) + "\n")
			text = nil
		}
	}
	fenced := false
	for _, line := range strings.Split(strings.TrimRight(markdown, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			flush()
			fenced = !fenced
		case fenced && line != "":
			b.WriteString("    " + line + "\n")
		case line == "" || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#"):
			flush()
			b.WriteString(line + "\n")
		default:
			if item.MatchString(line) {
				flush()
			}
			text = append(text, strings.TrimRight(line, " "))
		}
	}
	flush()
	return b.String()
}

// item matches the beginning of an item of a list: its indent and its mark.
var item = regexp.MustCompile(`^ *(?:- |[0-9]+\. )`)

// bold matches words between double asterisks, but no glob such as **.
var bold = regexp.MustCompile(`\*\*([^*\s](?:[^*]*[^*\s])?)\*\*`)

// wrappedItem wraps a paragraph or an item of a list. Further lines of an item begin below
// the text of its first line.
func wrappedItem(text string, width int) string {
	mark := item.FindString(text)
	text = strings.Join(strings.Fields(text[len(mark):]), " ")
	text = bold.ReplaceAllString(link.ReplaceAllStringFunc(text, pointed), "$1")
	return report.Wrapped(mark+text, width, strings.Repeat(" ", len(mark)))
}

// pointed returns the text of a link with its target, for a terminal.
func pointed(markdown string) string {
	parts := link.FindStringSubmatch(markdown)
	text, target := parts[1], parts[2]
	if name, ok := strings.CutSuffix(target, ".md"); ok {
		if _, ok := docs.Find(name); ok {
			return fmt.Sprintf("%s (espalier help %s)", text, name)
		}
	}
	if text == target {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, strings.TrimPrefix(target, "../"))
}

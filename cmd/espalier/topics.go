package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/docs"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
)

// newHelp returns the verb help, which prints the help of a verb, or a page of the documentation.
// page is the width of the terminal; 0 if the output is not a terminal.
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

// findHelp returns the verb or the page of the documentation with this name; the other result is
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
	return usage.Errorf("no help on %q%s (espalier help lists verbs and topics)", name,
		setting.Near(name, append(verbNames(c), topicNames()...)))
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
		_, about, _ := strings.Cut(page.Title, ": ")
		fmt.Fprintf(&b, "%-10s  %s\n", page.Name, about)
	}
	b.WriteString("```\n")
	return &docs.Page{Name: "topics", Text: b.String()}
}

// synonyms returns, for each topic, words that people look for.
func synonyms() map[string]string {
	return map[string]string{
		"start": "index intro introduction tutorial quickstart begin first example install readme where",
		"data": "csv excel parquet contracts schema missing nulls nan dates timestamps input columns types split key " +
			"monotone soft-labels soft_labels categories label labels weight validation-rows",
		"costs":     "money price prices cost euros groups weights priors class_weights error_costs errors free",
		"unordered": "absent not-ordered not_ordered unasked mar missing-at-random ipw positivity propensity",
		"budgets":   "budget limits limit select choice why smaller pruning certificate folds optimum grid lambda promote smoothing",
		"thresholds": "threshold sensitivity specificity ppv npv operating operating-points decision recall precision cutoff " +
			"min_sensitivity false-alarms",
		"accuracy": "models model leaf-models leaf_model boosters boosting lightgbm xgboost cart sklearn teacher preset presets " +
			"quality better distillation benchmark results",
		"reading": "comparison confusion importance tree trees rules roc auc calibration trust probabilities metrics figures " +
			"slices plots svg html card model_card fairness shap",
		"scoring": "score prediction predictions unseen explain service http api inference serving",
		"exports": "shipping onnx pmml json java javascript c code deploy export_c export_java export_javascript " +
			"export_python",
		"sql": "database databases postgres postgresql duckdb sqlite bigquery snowflake view",
		"production": "retraining monitoring windows window rollback revert yesterday nightly cron schedule scheduler gate alarms " +
			"psi drifted refit airflow prometheus latest log logs live live-auc delayed delayed-labels trace traceability " +
			"lineage provenance audit origin history register shadow a/b ab " +
			"champion challenger champion-challenger also",
		"scale":    "storage memory speed big s3 gcs gs cloud resume checkpoint checkpoints limits-of-size",
		"engines":  "engine flink spark dataflow prism runner workers kubernetes",
		"go":       "golang beam transforms library api-go streaming pipeline pipelines",
		"python":   "pandas polars numpy notebook notebooks jupyter runinference dataframe frames pip scikit-learn fit estimator",
		"files":    "json_tree tree.json metrics.json frontier.json exit exit-codes exit_codes privacy security telemetry overwrite format",
		"settings": "flags flag options option config yaml configuration",
		"glossary": "words terms definitions",
		"moving":   "migrate migration upgrade upgrading",
	}
}

// synonym returns the topic for a word that people look for; other words are returned unchanged.
func synonym(word string) string {
	for topic, words := range synonyms() {
		if slices.Contains(strings.Fields(words), strings.ToLower(word)) {
			return topic
		}
	}
	return word
}

// link finds a link of Markdown: its text and its target.
var link = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]+)\)`)

// readable turns Markdown into plain text of a width. It wraps paragraphs and items of
// lists, names the topics of links to other pages, and indents fenced blocks, whose tabs
// become four spaces. Headings and tables stay as they are: they read well in a terminal.
func readable(markdown string, width int) string {
	var b strings.Builder
	var text []string // lines of the current paragraph or item
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
			b.WriteString("    " + strings.ReplaceAll(line, "\t", "    ") + "\n")
		case line == "" || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#"):
			flush()
			b.WriteString(link.ReplaceAllStringFunc(line, unlinked) + "\n")
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

// bold matches words between double asterisks, but not a glob such as **.
var bold = regexp.MustCompile(`\*\*([^*\s](?:[^*]*[^*\s])?)\*\*`)

// wrappedItem wraps a paragraph or an item of a list. Further lines of an item are aligned with the
// text of its first line.
func wrappedItem(text string, width int) string {
	mark := item.FindString(text)
	text = strings.Join(strings.Fields(text[len(mark):]), " ")
	text = bold.ReplaceAllString(link.ReplaceAllStringFunc(text, pointed), "$1")
	return textview.Wrapped(mark+text, width, strings.Repeat(" ", len(mark)))
}

// unlinked returns the text of a link in a table, as wide as the link.
func unlinked(markdown string) string {
	return fmt.Sprintf("%-*s", utf8.RuneCountInString(markdown), link.FindStringSubmatch(markdown)[1])
}

// pointed returns the text of a link with its target, for a terminal.
func pointed(markdown string) string {
	parts := link.FindStringSubmatch(markdown)
	text := parts[1]
	target := parts[2]
	page, _, _ := strings.Cut(target, "#")
	if name, ok := strings.CutSuffix(page, ".md"); ok {
		if _, ok := docs.Find(name); ok {
			if text == name {
				return "espalier help " + name
			}
			return fmt.Sprintf("%s (espalier help %s)", text, name)
		}
	}
	if text == target {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, strings.TrimPrefix(target, "../"))
}

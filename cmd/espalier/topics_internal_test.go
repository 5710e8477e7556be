package main

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/espalier-ml/espalier/docs"
)

// TestTopics: each page is a topic, no topic hides a verb, and the list of help names
// every topic.
func TestTopics(t *testing.T) {
	var list bytes.Buffer
	if err := run(context.Background(), []string{"help", "topics"}, &list, &list); err != nil {
		t.Fatal(err)
	}
	for _, verb := range verbNames(newRoot(0)) {
		if _, ok := docs.Find(verb); ok {
			t.Errorf("docs/%s.md has the name of a verb", verb)
		}
	}
	for _, page := range docs.Pages() {
		var out bytes.Buffer
		if err := run(context.Background(), []string{"help", page.Name}, &out, &out); err != nil {
			t.Errorf("%s: %v", page.Name, err)
		}
		if !strings.HasPrefix(out.String(), "# "+page.Title+"\n") {
			t.Errorf("help %s begins %.60q", page.Name, out.String())
		}
		_, about, ok := strings.Cut(page.Title, ": ")
		if !ok || !strings.Contains(list.String(), "  "+page.Name+" ") || !strings.Contains(list.String(), about) {
			t.Errorf("help does not list %s:\n%s", page.Name, list.String())
		}
	}
}

// TestSynonyms: each word leads to one page and hides neither a page nor a verb. The names of the pages up to
// 0.2 lead to the pages that have their matter now.
func TestSynonyms(t *testing.T) {
	seen := make(map[string]string)
	for topic, words := range synonyms() {
		if _, ok := docs.Find(topic); !ok {
			t.Errorf("there is no page %s", topic)
		}
		for _, word := range strings.Fields(words) {
			if other := seen[word]; other != "" {
				t.Errorf("%s leads to %s and to %s", word, topic, other)
			}
			seen[word] = topic
			if _, ok := docs.Find(word); ok || slices.Contains(verbNames(newRoot(0)), word) || word == "topics" {
				t.Errorf("%s leads to %s and hides a page or verb", word, topic)
			}
		}
	}
	for word, want := range map[string]string{
		"comparison": "reading", "contracts": "data", "flink": "engines", "export_c": "exports",
		"export_java": "exports", "export_javascript": "exports", "export_python": "exports", "json_tree": "files",
		"library": "go", "models": "accuracy", "monitoring": "production", "onnx": "exports", "pmml": "exports",
		"retraining": "production", "shipping": "exports", "storage": "scale", "windows": "production",
		"csv": "data", "money": "costs", "rollback": "production", "confusion": "reading", "LightGBM": "accuracy",
		"postgres": "sql", "privacy": "files", "calibration": "reading", "budget": "budgets",
	} {
		if got := synonym(word); got != want {
			t.Errorf("%s leads to %s, want %s", word, got, want)
		}
	}
}

func TestUnknownTopic(t *testing.T) {
	var out bytes.Buffer
	for topic, want := range map[string]string{
		"glosary":    `no help on "glosary"; did you mean "glossary"?`,
		"predct":     `no help on "predct"; did you mean "predict"?`,
		"xyzzyxyzzy": `no help on "xyzzyxyzzy" (espalier help lists verbs and topics)`,
	} {
		if err := run(context.Background(), []string{"help", topic}, &out, &out); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("help %s: %v, want %s", topic, err, want)
		}
	}
}

// TestReadable: by hand.
func TestReadable(t *testing.T) {
	const markdown = "# Title\n\nA paragraph with `code` and **weight**\nthat goes on for more than a line.\n\n" +
		"- one item that is longer than a line\n- see [the words](glossary.md#data) or [a site](https://example.org)\n\n" +
		"| a | b |\n| - | - |\n\n```sh\nespalier help\n\n\tespalier version\n```\n"
	const want = "# Title\n\nA paragraph with `code` and\nweight that goes on for more\nthan a line.\n\n" +
		"- one item that is longer than\n  a line\n- see the words (espalier help\n  glossary) or a site\n  " +
		"(https://example.org)\n\n" +
		"| a | b |\n| - | - |\n\n    espalier help\n\n        espalier version\n"
	if got := readable(markdown, 30); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTopicsFit: no line of prose is wider than the page, and no word of a page is lost.
func TestTopicsFit(t *testing.T) {
	const page = 60
	marks := regexp.MustCompile("```[a-z]*|\\*\\*")
	for _, p := range docs.Pages() {
		fenced := false
		for _, line := range strings.Split(readable(p.Text, page), "\n") {
			fenced = strings.HasPrefix(line, "    ")
			if n := runewidth.StringWidth(line); n > page && !fenced && !strings.HasPrefix(line, "|") &&
				!strings.HasPrefix(line, "#") {
				t.Errorf("%s: %d characters: %s", p.Name, n, line)
			}
		}
		got, want := len(strings.Fields(readable(p.Text, page))), len(strings.Fields(marks.ReplaceAllString(p.Text, "")))
		if got < want {
			t.Errorf("%s: %d words are printed, the page has %d", p.Name, got, want)
		}
	}
}

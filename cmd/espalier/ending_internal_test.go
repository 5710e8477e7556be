package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestExitCodes compares the tables of the documentation with the endings, line by line.
func TestExitCodes(t *testing.T) {
	for page, row := range map[string]func(e ending) string{
		"files": func(e ending) string { return fmt.Sprintf("| %d | %s |", e.code, e.means) },
		"production": func(e ending) string {
			return fmt.Sprintf("| %d | %s | %s | %s |", e.code, e.outcome, e.todo, e.advice)
		},
	} {
		text, err := os.ReadFile("../../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, e := range endings() {
			want = append(want, row(e))
		}
		table := regexp.MustCompile(`(?m)^\| code .*\n\| -.*\n((?:\|.*\n)+)`).FindSubmatch(text)
		got := regexp.MustCompile(` +\|`).ReplaceAllString(string(table[1]), " |")
		got = strings.TrimSpace(regexp.MustCompile(`\| +`).ReplaceAllString(got, "| "))
		if got != strings.Join(want, "\n") {
			t.Errorf("docs/%s.md has the exit codes\n%s\nexpected\n%s", page, got, strings.Join(want, "\n"))
		}
	}
}

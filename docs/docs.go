// Package docs holds the pages of the documentation for users. They are read on the web as
// they are, and in a terminal by `espalier help TOPIC`.
package docs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// Page is a page of the documentation.
type Page struct {
	Name  string // the topic, which is the file name without its extension
	Title string // the first heading
	Text  string // Markdown, with the first heading
}

// names returns the names of all pages in the order in which a new user reads them.
func names() []string {
	return []string{
		"start", "data", "costs", "unordered", "budgets", "thresholds", "accuracy", "reading", "scoring", "exports", "sql", "production",
		"scale", "engines", "go", "python", "files", "settings", "glossary", "moving",
	}
}

// Pages returns all pages in the order in which a new user reads them.
func Pages() []Page {
	var pages []Page
	for _, name := range names() {
		text, err := files.ReadFile(name + ".md")
		if err != nil {
			panic(err) // the file is embedded
		}
		first, _, _ := strings.Cut(string(text), "\n")
		pages = append(pages, Page{Name: name, Title: strings.TrimPrefix(first, "# "), Text: string(text)})
	}
	return pages
}

// Find returns the page of a topic, and whether there is one.
func Find(topic string) (Page, bool) {
	pages := Pages()
	at := slices.IndexFunc(pages, func(p Page) bool { return p.Name == topic })
	if at < 0 {
		return Page{}, false
	}
	return pages[at], true
}

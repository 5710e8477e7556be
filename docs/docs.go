// Package docs holds the pages of the documentation. They are read on the web as they
// are, and in a terminal by `espalier help TOPIC`.
package docs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// extension ends the file name of a page.
const extension = ".md"

// Page is a page of the documentation.
type Page struct {
	Name  string // the topic, which is the file name without its extension
	Title string // the first heading
	Text  string // Markdown, with the first heading
}

// Pages returns all pages, by name.
func Pages() []Page {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the embedded folder is there
	}
	var pages []Page
	for _, entry := range entries {
		text, err := files.ReadFile(entry.Name())
		if err != nil {
			panic(err) // it was just listed
		}
		first, _, _ := strings.Cut(string(text), "\n")
		pages = append(pages, Page{
			Name:  strings.TrimSuffix(entry.Name(), extension),
			Title: strings.TrimPrefix(first, "# "),
			Text:  string(text),
		})
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

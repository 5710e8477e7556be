package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestCommandLines: the verb and the flags of each command line of espalier in a document or in the
// help of a verb are accepted by the binary.
func TestCommandLines(t *testing.T) {
	found := 0
	check := func(where, line string) {
		at := strings.Index(line+" ", "espalier ")
		if at < 0 || strings.Contains(line[:at], "build") {
			return
		}
		found++
		root := newRoot(0)
		root.InitDefaultHelpCmd()
		verb, rest, err := root.Find(words(line[at:])[1:])
		if err == nil {
			if err = verb.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
				return
			}
		}
		if err == nil && verb == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			t.Errorf("%s: no verb in %q", where, line)
		}
		if err == nil && !strings.Contains(line, "...") {
			err = verb.ValidateArgs(verb.Flags().Args())
		}
		if err != nil {
			t.Errorf("%s: %q: %v", where, line, err)
		}
	}
	span := regexp.MustCompile("`(espalier [^`]+)`")
	for path, content := range documents(t) {
		for _, line := range shell(content) {
			check(path, line)
		}
		for _, m := range span.FindAllStringSubmatch(content, -1) {
			check(path, m[1])
		}
	}
	for _, verb := range allVerbs() {
		for _, line := range commands(verb.Example) {
			check("the help of "+verb.Name(), line)
		}
	}
	if found < 25 {
		t.Errorf("only %d command lines were found", found)
	}
}

// TestFlagsNamed looks for every flag of a document among the flags of the verbs. The
// flags of other programs are node's for tests and docker's of the README.
func TestFlagsNamed(t *testing.T) {
	known := map[string]bool{"help": true}
	for _, verb := range allVerbs() {
		verb.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		verb.InheritedFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	flag := regexp.MustCompile(`(?:^|[\s` + "`" + `(])--([a-z][a-z_0-9]*)`)
	found := 0
	for path, content := range documents(t) {
		if !user(path) {
			continue
		}
		content = strings.NewReplacer("node --test", "", "docker run --rm --user", "").Replace(content)
		for _, m := range flag.FindAllStringSubmatch(content, -1) {
			found++
			if !known[m[1]] {
				t.Errorf("%s names --%s, which no verb has", path, m[1])
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d flags are named", found)
	}
}

// user reports whether a document is for users of the command: its flags are espalier's. The page on moving names flags
// of an earlier version.
func user(path string) bool {
	if path == top("docs", "moving.md") {
		return false
	}
	return path == top("README.md") || filepath.Dir(path) == top("docs") || filepath.Dir(path) == top("docs", "dev")
}

// top returns the path of a file of the repository.
func top(path ...string) string {
	return filepath.Join(append([]string{"..", ".."}, path...)...)
}

// documents returns the documentation by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	list := make(map[string]string)
	for _, pattern := range []string{
		top("*.md"), top("docs", "*.md"), top("docs", "dev", "*.md"), top("bench", "*.md"), top("bench", "experiments", "*.md"),
		filepath.Join("deploy", "*.md"),
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			list[path] = string(b)
		}
	}
	if len(list) < 12 {
		t.Fatalf("only %d documents", len(list))
	}
	return list
}

// TestLinks: what a document links to in the repository is there, with the heading that a link names.
func TestLinks(t *testing.T) {
	found := 0
	for path, document := range documents(t) {
		text := regexp.MustCompile("(?s)\n```go\n.*?\n```\n").ReplaceAllString(document, "") // f[T](x) is no link
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, heading, _ := strings.Cut(m[2], "#")
			if strings.Contains(target, "://") {
				continue
			}
			found++
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), filepath.FromSlash(target))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s: %v", path, target, err)
			} else if heading != "" && !slices.Contains(headings(string(content(t, file))), heading) {
				t.Errorf("%s links to %s, which has no heading %s", path, file, heading)
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d links were found", found)
	}
}

// content returns a file.
func content(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// headings returns the names by which links find the headings of a document: small letters, digits and hyphens.
func headings(document string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(document, -1) {
		name := regexp.MustCompile(`[^a-z0-9_ -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(name, " ", "-"))
	}
	return list
}

// shell returns the command lines between ```sh and ```.
func shell(document string) []string {
	var list []string
	for i, block := range strings.Split(document, "```") {
		if rest, ok := strings.CutPrefix(block, "sh\n"); ok && i%2 == 1 {
			list = append(list, commands(rest)...)
		}
	}
	return list
}

// commands returns the lines of a shell, those that end in a backslash joined with
// the next one, without comments.
func commands(text string) []string {
	var list []string
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		line, _, _ = strings.Cut(line, " # ")
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

// words splits a command line as a shell does, which knows single quotes alone.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 0 {
			list = append(list, strings.Fields(part)...)
		} else {
			list = append(list, part)
		}
	}
	return list
}

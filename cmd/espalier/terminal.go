package main

import (
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/espalier-ml/espalier/induce/naming"
)

// printer writes texts in a form that is safe for terminals, because names of columns, files and
// values are chosen by other people. A text may come in pieces that end anywhere. The caller calls
// end after the last piece.
type printer struct {
	to   io.Writer
	mu   sync.Mutex
	held string // the end of the written text, because the next piece may belong to it
}

// Write implements io.Writer.
func (p *printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.held + string(b)
	at := len(text) - unfinished(text)
	p.held = text[at:]
	if err := p.print(text[:at]); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (p *printer) print(text string) error {
	if text == "" {
		return nil
	}
	_, err := io.WriteString(p.to, naming.Printable(text))
	return err
}

// end writes the held text. An error of the terminal cannot be reported anywhere.
func (p *printer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.print(p.held)
	p.held = ""
}

// longestURL bounds what a printer holds, in bytes.
const longestURL = 8 << 10

// unfinished returns how many bytes at the end of a text are incomplete without the next piece:
// part of a character, or of a URL, in which a password can only be found as a whole.
func unfinished(text string) int {
	word := text[strings.LastIndexAny(text, " \t\r\n\f\"'")+1:]
	if strings.ContainsAny(word, ":?&") && len(word) <= longestURL {
		return len(word)
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRuneInString(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// raw returns the writer below a printer, for terminal commands and for data of other programs.
func raw(w io.Writer) io.Writer {
	if p, ok := w.(*printer); ok {
		return p.to
	}
	return w
}

// file returns the file of a stream.
func file(stream any) (*os.File, bool) {
	if p, ok := stream.(*printer); ok {
		stream = p.to
	}
	f, ok := stream.(*os.File)
	return f, ok
}

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	f, ok := file(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

// minPage is the least width of a page. A narrower terminal wraps the lines.
const minPage = 40

// pageWidth returns the width of a terminal in characters. It is 0 if the stream is not a terminal
// or the width is unknown; then lines may have any length.
func pageWidth(stream any) int {
	f, ok := file(stream)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 0
	}
	return max(minPage, width)
}

// coloured reports whether a stream takes colours: a terminal does, unless NO_COLOR is set
// (https://no-color.org) or the terminal is a dumb one.
func coloured(stream any) bool {
	return isTerminal(stream) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

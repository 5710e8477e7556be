package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/espalier-ml/espalier/induce/naming"
)

// printer writes texts as terminals may show them: names of columns, files and values are chosen by others.
type printer struct{ to io.Writer }

// Write implements io.Writer.
func (p *printer) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.to, naming.Printable(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// raw returns the writer below a printer, for what obeys the terminal or is data of another program.
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

// minPage is the least width of a page. On a narrower terminal lines are wrapped by it.
const minPage = 40

// pageWidth returns the width of a terminal in characters. 0: the stream is no terminal,
// or the width is unknown, and lines may have any length.
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

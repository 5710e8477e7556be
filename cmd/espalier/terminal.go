package main

import (
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// minPage is the least width of a page. On a narrower terminal lines are wrapped by it.
const minPage = 40

// pageWidth returns the width of a terminal in characters. 0: the stream is no terminal,
// or the width is unknown, and lines may have any length.
func pageWidth(stream any) int {
	f, ok := stream.(*os.File)
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

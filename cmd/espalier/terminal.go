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

// minPage is the width below which lines are left to the terminal to wrap.
const minPage = 40

// pageWidth returns the characters of a line of what is written to: those of the
// terminal; 0, any number, where it is none or does not tell.
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

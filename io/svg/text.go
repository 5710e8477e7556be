package svg

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// The sizes of texts.
const (
	HeadSize = 15
	TextSize = 12
	TickSize = 11
)

// Text is how words are written.
type Text struct {
	Size   float64 // 0: TextSize
	Bold   bool
	Colour Colour // empty: Ink
	Align  Align
	Turned bool // by a quarter, upwards
}

// Align is the position of words relative to their point.
type Align string

// The places of words.
const (
	Left   Align = "" // they begin there
	Middle Align = "middle"
	Right  Align = "end"
)

func (t *Text) size() float64 {
	if t.Size == 0 {
		return TextSize
	}
	return t.Size
}

func (t *Text) attributes() string {
	var classes []string
	if t.Bold {
		classes = append(classes, "es-bold")
	}
	if t.Colour != "" && t.Colour != Ink {
		classes = append(classes, "es-"+string(t.Colour))
	}
	size := ""
	if t.size() != TextSize {
		size = ` font-size="` + short(t.Size) + `"`
	}
	return classAttribute(classes) + size
}

// Width returns the width of words.
func (t *Text) Width(words string) float64 {
	width, _ := t.width(words)
	return width
}

// width returns the width of words, and whether it is known of all their characters. Others take up to
// three quarters of the size, wide ones twice as much.
func (t *Text) width(words string) (width float64, known bool) {
	var sum, others int
	widths := letterWidths(t.Bold)
	for _, r := range words {
		if w := widthOf(r, &widths); w > 0 {
			sum += w
		} else {
			others += max(1, runewidth.RuneWidth(r))
		}
	}
	return float64(float64(sum)/em*t.size()) + float64(0.75*t.size()*float64(others)), others == 0
}

// Fit shortens words to a width. It keeps both ends.
func (t *Text) Fit(words string, width float64) string {
	if t.Width(words) <= width {
		return words
	}
	runes := []rune(words)
	cut := ".."
	for n := 1; n < len(runes); n++ {
		longer := string(runes[:(n+1)/2]) + ".." + string(runes[len(runes)-n/2:])
		if t.Width(longer) > width {
			break
		}
		cut = longer
	}
	return cut
}

// Wrap breaks words into lines of a width, at blanks.
func (t *Text) Wrap(words string, width float64) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(words) {
		word = t.Fit(word, width)
		if longer := line + " " + word; line != "" && t.Width(longer) <= width {
			line = longer
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = word
	}
	return append(lines, line)
}

package pagetest

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/svg"
)

// The elements and attributes of a picture.
const (
	pictureElements   = "svg title desc style rect text g path circle"
	pictureAttributes = "xmlns class width height viewBox role aria-label x y rx cx cy r d fill fill-opacity stroke " +
		"stroke-width stroke-opacity stroke-dasharray font-size text-anchor textLength lengthAdjust transform " +
		"data-left data-right data-top data-bottom data-x-min data-x-max data-y-min data-y-max data-point data-bin data-node"
)

// CheckPicture reads a picture as SVG. The picture must have a title and a description, no control
// characters in a text, and no elements that come from a name. Texts must be as wide as declared,
// within the picture, and not overlap.
func CheckPicture(t *testing.T, name, picture string) {
	t.Helper()
	CheckText(t, name, picture)
	CheckMarkup(t, name, picture, pictureElements, pictureAttributes)
	if strings.Count(picture, "<desc>") != 1 || !strings.Contains(picture, "<title>") {
		t.Errorf("%s: want a title and a description", name)
	}
	list, box := labels(t, picture)
	if len(list) < 4 {
		t.Errorf("%s: %d texts", name, len(list))
	}
	for i, a := range list {
		if a.Left < 0 || a.Right > box.Right || a.Top < 0 || a.Bottom > box.Bottom {
			t.Errorf("%s: %+v is outside of %v times %v", name, a, box.Right, box.Bottom)
		}
		for _, b := range list[i+1:] {
			if a.Left < b.Right && b.Left < a.Right && a.Top < b.Bottom && b.Top < a.Bottom {
				t.Errorf("%s: %+v is on %+v", name, a, b)
			}
		}
	}
}

// label is a text with the place of its letters.
type label struct {
	svg.Box

	words string
}

// labels returns the texts of a picture, and the size of its viewBox.
func labels(t *testing.T, picture string) (list []label, box svg.Box) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list, box
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attributes := make(map[string]string)
		for _, a := range e.Attr {
			attributes[a.Name.Local] = a.Value
		}
		switch e.Name.Local {
		case "svg":
			size := strings.Fields(attributes["viewBox"])
			box.Right = number(t, size[2])
			box.Bottom = number(t, size[3])
		case "text":
			var words string
			if err := d.DecodeElement(&words, &e); err != nil {
				t.Fatal(err)
			}
			list = append(list, newLabel(t, attributes, words))
		}
	}
}

// newLabel returns the place of a text.
func newLabel(t *testing.T, attributes map[string]string, words string) label {
	t.Helper()
	text := svg.Text{Bold: strings.Contains(attributes["class"], "es-bold"), Size: svg.TextSize}
	if size := attributes["font-size"]; size != "" {
		text.Size = number(t, size)
	}
	width := text.Width(words)
	if said := attributes["textLength"]; said != "" && math.Abs(number(t, said)-width) > 0.01 {
		t.Errorf("%q is %v wide, said to be %v", words, width, said)
	}
	x, y := number(t, attributes["x"]), number(t, attributes["y"])
	before := float64(map[string]float64{"": 0, "middle": 0.5, "end": 1}[attributes["text-anchor"]] * width)
	above := float64(0.72 * text.Size) // capitals
	below := float64(0.2 * text.Size)  // descents
	if attributes["transform"] != "" {
		return label{svg.Box{Left: x - above, Right: x + below, Top: y + before - width, Bottom: y + before}, words}
	}
	return label{svg.Box{Left: x - before, Right: x - before + width, Top: y - above, Bottom: y + below}, words}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

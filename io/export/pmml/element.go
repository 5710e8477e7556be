package pmml

import (
	"encoding/xml"
	"strconv"
)

// element is an XML element.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []*element `xml:",any"`
}

// el returns an element; names and values of its attributes take turns.
func el(name string, attributes ...string) *element {
	e := &element{XMLName: xml.Name{Local: name}}
	for i := 0; i < len(attributes); i += 2 {
		e.Attrs = append(e.Attrs, xml.Attr{Name: xml.Name{Local: attributes[i]}, Value: attributes[i+1]})
	}
	return e
}

// with adds children, and returns the element.
func (e *element) with(children ...*element) *element {
	e.Children = append(e.Children, children...)
	return e
}

// number returns the shortest text that reads as the same double.
func number(x float64) string {
	if x == 0 {
		x = 0 // no -0
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// cut returns a number that values are compared with. Zero is written as -0: evaluators that order
// -0 below 0 then take both as equal to it or above, as numbers are.
func cut(x float64) string {
	if x == 0 {
		return "-0.0"
	}
	return number(x)
}

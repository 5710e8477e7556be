package diagrams

import (
	"errors"
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/svg"
	"github.com/espalier-ml/espalier/io/textview"
)

// Curves are series of points on axes. Panels share the horizontal axis, and stand below each
// other.
type Curves struct {
	Title  string
	Note   string
	X      Scale
	Panels []Panel
}

// Scale is an axis. A logarithmic one has positive values only.
type Scale struct {
	Label string
	Log   bool
	Zero  bool // begins at 0
}

// Panel has a vertical axis of its own.
type Panel struct {
	Y      Scale
	Series []Series
}

// Series are points with one sign. Series of one name, in several panels, have one place in the
// legend.
type Series struct {
	Name   string
	Points []Coordinates
	Line   bool // joins the points
	Dashed bool
	Colour int // from 0; colours return after seven
	Sign   Sign
}

// Coordinates are the values of a point.
type Coordinates struct{ X, Y float64 }

// Sign is the sign of a point.
type Sign int

// The signs of points.
const (
	NoSign Sign = iota
	Filled      // one of three shapes, by the colour
	Hollow      // the same shapes, without a filling
	Plus
	Cross
)

// NewCurves draws series of points. An error says which value has no place.
func NewCurves(c *Curves) (*chart.Picture, error) {
	d := &curvesChart{Curves: c}
	if err := d.measure(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Title, err)
	}
	const one, several = 400, 160 // heights
	p := &chart.Picture{Title: c.Title, Words: c.Note, Height: one, Legend: d.legend(), Draw: d.draw}
	if len(c.Panels) > 1 {
		p.Height = float64(120 + several*len(c.Panels))
	}
	if c.Note != "" {
		p.Notes = []string{c.Note}
	}
	return p, nil
}

// curvesChart is a picture of curves. Values of logarithmic axes are powers of ten.
type curvesChart struct {
	*Curves

	x chart.Axis
	y []chart.Axis // by panel
}

// value returns the place of a value on an axis.
func (s *Scale) value(x float64) float64 {
	if s.Log {
		return portable.Log(x) / math.Ln10
	}
	return x
}

// measure sets the axes.
func (d *curvesChart) measure() error {
	if len(d.Panels) == 0 {
		return errors.New("there is no panel")
	}
	d.x = chart.Axis{Label: d.X.Label, Low: math.Inf(1), High: math.Inf(-1)}
	for i := range d.Panels {
		panel := &d.Panels[i]
		y := chart.Axis{Label: panel.Y.Label, Low: math.Inf(1), High: math.Inf(-1)}
		for _, s := range panel.Series {
			for _, point := range s.Points {
				if !d.X.has(point.X) || !panel.Y.has(point.Y) {
					return fmt.Errorf("%s: the point (%v, %v) has no place on the axes", s.Name, point.X, point.Y)
				}
				extend(&d.x, d.X.value(point.X))
				extend(&y, panel.Y.value(point.Y))
			}
		}
		if math.IsInf(y.Low, 0) {
			return errors.New("a panel has no points")
		}
		panel.Y.finish(&y, 16/(1+min(2, len(d.Panels))))
		d.y = append(d.y, y)
	}
	d.X.finish(&d.x, 10)
	return nil
}

// has reports whether a value has a place on the axis: the difference of two such values is a number.
func (s *Scale) has(x float64) bool {
	const least, greatest = 1e-300, 1e300
	if s.Log {
		return least <= x && x <= greatest
	}
	return -greatest <= x && x <= greatest
}

func extend(a *chart.Axis, x float64) { a.Low, a.High = min(a.Low, x), max(a.High, x) }

// finish widens the axis by a margin on both sides, and sets at most the given number of ticks.
func (s *Scale) finish(a *chart.Axis, ticks int) {
	room := float64((a.High - a.Low) * 0.04)
	if room == 0 {
		room = max(0.05, math.Abs(float64(a.Low*0.05)))
	}
	a.High += room
	a.Low -= room
	if s.Zero {
		a.Low = 0
	}
	if s.Log {
		a.Ticks = logTicks(a.Low, a.High)
	} else {
		a.Ticks = chart.RoundTicks(a.Low, a.High, ticks)
	}
}

// logTicks returns ticks at powers of ten; on short axes also at 2 and 5 times these. The ends are
// logarithms.
func logTicks(low, high float64) []chart.Tick {
	factors := []float64{1}
	if high-low < 2.5 {
		factors = []float64{1, 2, 5}
	}
	every := max(1, int(high-low)/8)
	var list []chart.Tick
	for k := int(math.Floor(low)); k <= int(math.Ceil(high)); k++ {
		for _, f := range factors {
			at := float64(k) + portable.Log(f)/math.Ln10
			if at < low-1e-9 || at > high+1e-9 || k%every != 0 {
				continue
			}
			list = append(list, chart.Tick{Value: at, Label: chart.TickLabel(float64(f*tenTo(k)), max(0, -k))})
		}
	}
	return list
}

// tenTo returns a power of ten, the nearest number to it.
func tenTo(k int) float64 {
	x := 1.0
	for range max(k, -k) {
		x *= 10
	}
	if k < 0 {
		return 1 / x
	}
	return x
}

// style returns the line of a series.
func (s *Series) style() svg.Style {
	l := svg.Line(s.colour(), 1.6)
	if s.Dashed {
		l.Dashes = []float64{5, 3}
	}
	return l
}

func (s *Series) colour() svg.Colour {
	colours := []svg.Colour{svg.Blue, svg.Vermillion, svg.Green, svg.Orange, svg.Purple, svg.Sky, svg.Ink}
	return colours[s.Colour%len(colours)]
}

// sign draws the sign of a point.
func (s *Series) sign(on *svg.Canvas, at svg.Point) {
	style := svg.Line(s.colour(), 1)
	size := 4.0
	switch s.Sign {
	case Filled:
		style = svg.Area(s.colour())
	case Hollow:
		size = 4.5
	case Plus:
		on.Lines(style, at.Plus(-size, 0), at.Plus(size, 0))
		on.Lines(style, at.Plus(0, -size), at.Plus(0, size))
		return
	case Cross:
		on.Lines(style, at.Plus(-size, -size), at.Plus(size, size))
		on.Lines(style, at.Plus(-size, size), at.Plus(size, -size))
		return
	default:
		return
	}
	switch s.Colour % 3 { // three shapes
	case 0:
		on.Circle(style, at, size)
	case 1:
		on.Rect(style, svg.Box{Left: at.X - size, Top: at.Y - size, Right: at.X + size, Bottom: at.Y + size}, 0)
	default:
		on.Triangle(style, at, size)
	}
}

// legend has each name of a series once.
func (d *curvesChart) legend() []chart.Entry {
	var list []chart.Entry
	seen := make(map[string]bool)
	for i := range d.Panels {
		for k := range d.Panels[i].Series {
			s := &d.Panels[i].Series[k]
			if s.Name == "" || seen[s.Name] {
				continue
			}
			seen[s.Name] = true
			list = append(list, chart.Entry{Words: textview.Name(s.Name), Sign: func(on *svg.Canvas, left svg.Point) {
				if s.Line {
					on.Lines(s.style(), left, left.Plus(chart.SignWidth, 0))
				}
				s.sign(on, left.Plus(chart.SignWidth/2, 0))
			}})
		}
	}
	return list
}

// draw draws the panels, the first one above. All begin where the widest labels allow.
func (d *curvesChart) draw(on *svg.Canvas, area svg.Box) {
	height := (area.Bottom - area.Top) / float64(len(d.Panels))
	axes := make([]*chart.Axes, len(d.Panels))
	for i := range axes {
		x := d.x
		if i < len(d.Panels)-1 {
			x.Label = ""
		}
		place := area
		place.Top += float64(height * float64(i))
		place.Bottom = place.Top + height - chart.Margin/2
		axes[i] = chart.NewAxes(place, x, d.y[i])
	}
	chart.Align(axes...)
	for i, a := range axes {
		a.Draw(on)
		for k := range d.Panels[i].Series {
			d.drawSeries(on, a, &d.Panels[i].Y, &d.Panels[i].Series[k])
		}
	}
}

func (d *curvesChart) drawSeries(on *svg.Canvas, axes *chart.Axes, y *Scale, s *Series) {
	places := make([]svg.Point, len(s.Points))
	for i, point := range s.Points {
		places[i] = axes.At(d.X.value(point.X), y.value(point.Y))
	}
	if s.Line {
		on.Group("ec-line", textview.Name(s.Name), "", func() { on.Lines(s.style(), places...) })
	}
	if s.Sign == NoSign {
		return
	}
	for i, point := range s.Points {
		tip := fmt.Sprintf("%s: %.4g, %.4g", textview.Name(s.Name), point.X, point.Y)
		on.Group("ec-point", tip, "", func() { s.sign(on, places[i]) })
	}
}

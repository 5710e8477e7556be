package chart

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/io/report"
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
func NewCurves(c *Curves) (*Picture, error) {
	d := &curvesChart{Curves: c}
	if err := d.measure(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Title, err)
	}
	const one, several = 400, 160 // heights
	p := &Picture{title: c.Title, words: c.Note, height: one}
	if len(c.Panels) > 1 {
		p.height = vg.Length(120 + several*len(c.Panels))
	}
	if c.Note != "" {
		p.notes = []string{c.Note}
	}
	p.legend = d.legend()
	p.content = d.draw
	return p, nil
}

// curvesChart is a picture of curves. Values of logarithmic axes are powers of ten.
type curvesChart struct {
	*Curves

	x axis
	y []axis // by panel
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
	d.x = axis{d.X.Label, math.Inf(1), math.Inf(-1), 10}
	for i := range d.Panels {
		panel := &d.Panels[i]
		y := axis{panel.Y.Label, math.Inf(1), math.Inf(-1), 16 / (1 + min(2, len(d.Panels)))}
		for _, s := range panel.Series {
			for _, point := range s.Points {
				least := -greatest
				if d.X.Log || panel.Y.Log {
					least = 1e-300
				}
				if !within(point.X, least, greatest) || !within(point.Y, least, greatest) {
					return fmt.Errorf("%s: the point (%v, %v) has no place on the axes", s.Name, point.X, point.Y)
				}
				d.x.extend(d.X.value(point.X))
				y.extend(panel.Y.value(point.Y))
			}
		}
		if math.IsInf(y.low, 0) {
			return errors.New("a panel has no points")
		}
		y.widen(&panel.Y)
		d.y = append(d.y, y)
	}
	d.x.widen(&d.X)
	return nil
}

func (a *axis) extend(x float64) { a.low, a.top = min(a.low, x), max(a.top, x) }

// widen leaves room beside the outermost points.
func (a *axis) widen(s *Scale) {
	room := float64((a.top - a.low) * 0.04)
	if room == 0 {
		room = max(0.05, math.Abs(float64(a.low*0.05)))
	}
	a.low, a.top = a.low-room, a.top+room
	if s.Zero {
		a.low = 0
	}
}

// logTicker sets ticks at powers of ten; on short axes also at 2 and 5 times these.
type logTicker struct{}

// Ticks implements plot.Ticker. The ends are logarithms.
func (logTicker) Ticks(low, top float64) []plot.Tick {
	factors := []float64{1}
	if top-low < 2.5 {
		factors = []float64{1, 2, 5}
	}
	every := max(1, int(top-low)/8)
	var list []plot.Tick
	for k := int(math.Floor(low)); k <= int(math.Ceil(top)); k++ {
		for _, f := range factors {
			at := float64(k) + portable.Log(f)/math.Ln10
			if at < low-1e-9 || at > top+1e-9 || k%every != 0 {
				continue
			}
			digits := max(0, -k)
			list = append(list, plot.Tick{Value: at, Label: tickLabel(float64(f*tenTo(k)), digits)})
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
func (s *Series) style() draw.LineStyle {
	l := line(s.hex(), 1.6)
	if s.Dashed {
		return dashed(l, 5, 3)
	}
	return l
}

func (s *Series) hex() uint32 {
	colours := []uint32{blue, vermillion, green, orange, purple, sky, black}
	return colours[s.Colour%len(colours)]
}

// sign draws the sign of a point.
func (s *Series) sign(on *draw.Canvas, at vg.Point) {
	filled := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}
	hollow := []draw.GlyphDrawer{draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}
	m := draw.GlyphStyle{Color: rgb(s.hex()), Radius: 4}
	switch s.Sign {
	case Filled:
		m.Shape = filled[s.Colour%len(filled)]
	case Hollow:
		m.Shape, m.Radius = hollow[s.Colour%len(hollow)], 4.5
	case Plus:
		m.Shape = draw.PlusGlyph{}
	case Cross:
		m.Shape = draw.CrossGlyph{}
	default:
		return
	}
	on.DrawGlyphNoClip(m, at)
}

// legend has each name of a series once.
func (d *curvesChart) legend() []entry {
	var list []entry
	seen := make(map[string]bool)
	for i := range d.Panels {
		for k := range d.Panels[i].Series {
			s := &d.Panels[i].Series[k]
			if s.Name == "" || seen[s.Name] {
				continue
			}
			seen[s.Name] = true
			list = append(list, entry{func(p *paper, left vg.Point) {
				if s.Line {
					p.StrokeLine2(s.style(), left.X, left.Y, left.X+signWidth, left.Y)
				}
				s.sign(&p.Canvas, left.Add(vg.Point{X: signWidth / 2}))
			}, report.Name(s.Name)})
		}
	}
	return list
}

// draw draws the panels, the first one above. All begin where the widest labels allow.
func (d *curvesChart) draw(on *paper, area vg.Rectangle) {
	height := (area.Max.Y - area.Min.Y) / vg.Length(len(d.Panels))
	axes, places := make([]*plot.Plot, len(d.Panels)), make([]vg.Rectangle, len(d.Panels))
	left := area.Min.X
	for i := range d.Panels {
		x := d.x
		if i < len(d.Panels)-1 {
			x.label = ""
		}
		axes[i] = on.plot(x, d.y[i])
		if d.X.Log {
			axes[i].X.Tick.Marker = logTicker{}
		}
		if d.Panels[i].Y.Log {
			axes[i].Y.Tick.Marker = logTicker{}
		}
		places[i] = vg.Rectangle{Min: vg.Point{X: area.Min.X}, Max: vg.Point{X: area.Max.X}}
		places[i].Max.Y = area.Max.Y - vg.Length(height*vg.Length(i))
		places[i].Min.Y = places[i].Max.Y - height + margin/2
		left = max(left, axes[i].DataCanvas(draw.Canvas{Rectangle: places[i]}).Min.X)
	}
	for i := range d.Panels {
		places[i].Min.X += left - axes[i].DataCanvas(draw.Canvas{Rectangle: places[i]}).Min.X
		series := d.Panels[i].Series
		axes[i].Add(layer(grid), layer(func(c draw.Canvas, axes *plot.Plot) { d.drawSeries(on, c, axes, i, series) }))
		axes[i].Draw(draw.Canvas{Canvas: on.Canvas, Rectangle: places[i]})
	}
}

func (d *curvesChart) drawSeries(on *paper, c draw.Canvas, axes *plot.Plot, panel int, series []Series) {
	for k := range series {
		s := &series[k]
		places := make([]vg.Point, len(s.Points))
		for i, point := range s.Points {
			places[i] = at(&c, axes, d.X.value(point.X), d.Panels[panel].Y.value(point.Y))
		}
		if s.Line {
			on.group("ec-line", report.Name(s.Name), "", func() { c.StrokeLines(s.style(), places) })
		}
		if s.Sign == NoSign {
			continue
		}
		for i, point := range s.Points {
			tip := fmt.Sprintf("%s: %.4g, %.4g", report.Name(s.Name), point.X, point.Y)
			on.group("ec-point", tip, "", func() { s.sign(&c, places[i]) })
		}
	}
}

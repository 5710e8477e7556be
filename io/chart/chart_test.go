package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"gonum.org/v1/plot/font"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// nasty are names that a format may stumble over.
func nasty() []string {
	return []string{
		`<script>alert(1)</script>`, `</text></svg><script>alert(1)</script>`, `"quoted" 'and' & back\slash`,
		"two\nlines\r\n", "NUL \x00 bell \a", "invalid \xff\xfe", "bidi \u202e\u2066 text", strings.Repeat("long ", 2000),
		"]]>", "<!-- x -->", "&amp;", "%s%d", "", "-->", "日本語 🌳", "\u05d0\u05d1\u05d2", strings.Repeat("W", 10_000),
	}
}

func defined(x float64) *float64 { return &x }

// frontierOf returns a frontier of so many trees.
func frontierOf(points int, unit string) *runfolder.Frontier {
	f := &runfolder.Frontier{}
	for i := range points {
		auc := 1 - 0.5/float64(i+1)
		f.Points = append(f.Points, runfolder.Point{
			Tree: runfolder.FrontierTree(i), Algorithm: tree.Algorithm{CostUnit: unit},
			Complexity: tree.Complexity{ExpectedCost: float64(i * i), Leaves: i + 1},
			Validation: runfolder.Part{AUC: defined(auc), Interval: &metric.Interval{Low: auc - 0.1, High: min(1, auc+0.1)}},
			Test:       runfolder.Part{AUC: defined(auc - 0.02)}, Selected: i == points/2,
		})
	}
	return f
}

// pictures returns pictures of hostile names and of many trees.
func pictures(t *testing.T) map[string]*chart.Picture {
	t.Helper()
	list := make(map[string]*chart.Picture)
	add := func(name string, p *chart.Picture, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list[name] = p
	}
	for _, n := range []int{1, 2, 12, 13, 200} {
		p, err := chart.Frontier(frontierOf(n, "s"))
		add(fmt.Sprintf("frontier of %d", n), p, err)
	}
	for part, name := range []string{"validation", "test"} {
		f := frontierOf(20, "")
		for i := range f.Points {
			*[]*runfolder.Part{&f.Points[i].Validation, &f.Points[i].Test}[part] = runfolder.Part{}
		}
		p, err := chart.Frontier(f)
		add("frontier without "+name+" rows", p, err)
	}
	for i, name := range nasty() {
		p, err := chart.Frontier(frontierOf(3, name))
		add(fmt.Sprintf("frontier in unit %d", i), p, err)
	}
	for _, n := range []int{2, 3, 11, 40} {
		for kind, names := range map[string][]string{"plain": plain(n), "hostile": hostile(n)} {
			for _, control := range []int{-1, n / 2} {
				p, err := chart.CriticalDifference(rankingOf(names, control))
				add(fmt.Sprintf("ranks of %d %s methods, control %d", n, kind, control), p, err)
			}
			p, err := chart.NewCurves(curvesOf(names))
			add(fmt.Sprintf("curves of %d %s names", n, kind), p, err)
		}
	}
	for _, n := range []int{2, 3, 7, 26, 60} {
		for kind, names := range map[string][]string{"plain": plain(n), "hostile": hostile(n)} {
			m := metricsOf(names)
			p, err := chart.ROC(m, "")
			add(fmt.Sprintf("roc of %d %s classes", n, kind), p, err)
			p, err = chart.ROC(m, names[1])
			add(fmt.Sprintf("roc of one of %d %s classes", n, kind), p, err)
			p, err = chart.Calibration(m)
			add(fmt.Sprintf("calibration of %d %s classes", n, kind), p, err)
			p, err = chart.Importance(importanceOf(names))
			add(fmt.Sprintf("importance of %d %s features", n, kind), p, err)
		}
	}
	return list
}

// rankingOf returns methods with equal ranks among them, in runs that do not differ.
func rankingOf(names []string, control int) *chart.Ranking {
	r := &chart.Ranking{Title: names[0], Note: names[len(names)-1], Methods: names, Critical: 2.5, Control: control}
	for i := range names {
		r.Ranks = append(r.Ranks, float64(1+i-i%2))
		if i > 0 {
			r.Groups = append(r.Groups, [2]int{i - 1, i})
		}
	}
	return r
}

// curvesOf returns two panels of curves with all signs, on logarithmic axes.
func curvesOf(names []string) *chart.Curves {
	c := &chart.Curves{Title: names[0], Note: names[len(names)-1], X: chart.Scale{Label: names[1], Log: true}}
	for range 2 {
		panel := chart.Panel{Y: chart.Scale{Label: names[0], Log: true}}
		for i, name := range names {
			s := chart.Series{Name: name, Line: i%2 == 0, Dashed: i%4 == 0, Colour: i, Sign: chart.Sign(i % 5)}
			for k := range 9 {
				s.Points = append(s.Points, chart.Coordinates{X: float64(k + 1), Y: float64((i + 1) * (k + 1))})
			}
			panel.Series = append(panel.Series, s)
		}
		c.Panels = append(c.Panels, panel)
	}
	return c
}

// TestRefusedComparisons: descending ranks, and points without a place on an axis.
func TestRefusedComparisons(t *testing.T) {
	for want, change := range map[string]func(r *chart.Ranking){
		"two methods or more": func(r *chart.Ranking) { r.Methods = r.Methods[:1] },
		"ascending":           func(r *chart.Ranking) { r.Ranks[0] = 2.5 },
		"mean rank NaN":       func(r *chart.Ranking) { r.Ranks[1] = math.NaN() },
	} {
		r := rankingOf(plain(3), -1)
		change(r)
		if _, err := chart.CriticalDifference(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
	for want, change := range map[string]func(c *chart.Curves){
		"no panel":       func(c *chart.Curves) { c.Panels = nil },
		"has no points":  func(c *chart.Curves) { c.Panels[1].Series = nil },
		"the point (0, ": func(c *chart.Curves) { c.Panels[0].Series[0].Points[0].X = 0 },
		"NaN) has no":    func(c *chart.Curves) { c.Panels[0].Series[0].Points[0].Y = math.NaN() },
	} {
		c := curvesOf(plain(2))
		change(c)
		if _, err := chart.NewCurves(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
}

// TestCurvePlaces: on a logarithmic axis equal ratios are equal distances.
func TestCurvePlaces(t *testing.T) {
	points := []chart.Coordinates{{X: 1, Y: 5}, {X: 10, Y: 5}, {X: 100, Y: 6}}
	p, err := chart.NewCurves(&chart.Curves{X: chart.Scale{Log: true}, Panels: []chart.Panel{{
		Series: []chart.Series{{Points: points, Line: true}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.SVG(&b, 0); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`stroke-width="1.6" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"`).
		FindStringSubmatch(b.String())
	if found == nil {
		t.Fatal("the picture has no line of three points")
	}
	var at [7]float64
	for i := 1; i < len(at); i++ {
		at[i], _ = strconv.ParseFloat(found[i], 64)
	}
	if first, second := at[3]-at[1], at[5]-at[3]; math.Abs(first-second) > 0.02 || first < 100 {
		t.Errorf("distances %v and %v, want equal ones", first, second)
	}
	if at[2] != at[4] || at[6] > at[4]-100 {
		t.Errorf("heights %v, %v, %v: want two equal ones, and a higher one", at[2], at[4], at[6])
	}
}

// plain returns so many names of usual length, hostile the nasty ones, with a number behind.
func plain(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("Horizontal_Distance_To_%d", i)
	}
	return names
}

func hostile(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = nasty()[i%len(nasty())] + strings.Repeat("'", i/len(nasty()))
	}
	return names
}

// metricsOf returns metrics of these classes, with leaves of random rows.
func metricsOf(classes []string) *runfolder.Metrics {
	r := rand.New(rand.NewPCG(71, uint64(len(classes))))
	leaves := make([]metric.Leaf, 150)
	for i := range leaves {
		p, w, sum := make([]float64, len(classes)), make([]int64, len(classes)), 0.0
		best := i % len(classes)
		for c := range p {
			if p[c] = r.Float64(); c == best {
				p[c] *= float64(len(classes))
			}
			w[c], sum = int64(20*p[c]*r.Float64()), sum+p[c]
		}
		for c := range p {
			p[c] /= sum
		}
		leaves[i] = metric.Leaf{Probabilities: p, Class: best, Weights: w, Rows: 1}
	}
	m := metric.Evaluate(leaves, classes, 1)
	return &runfolder.Metrics{Train: &m, Validation: &m}
}

// importanceOf returns what features bring: some nothing, some less, some are free, some are not
// measured.
func importanceOf(names []string) *runfolder.Importance {
	m := &runfolder.Importance{Part: "validation", AUC: defined(0.9)}
	for i, name := range names {
		f := runfolder.FeatureImportance{Feature: name, Impurity: float64(i), ExpectedCost: 2}
		if lost := 0.3 - 0.02*float64(i); i%7 != 5 {
			f.AUCLost = &lost
			if i%5 != 3 {
				f.AUCPerCost = defined(lost * 1e4 / float64(1+i*i))
			}
		}
		m.Features = append(m.Features, f)
	}
	return m
}

// TestSVG parses the pictures by encoding/xml. Names bring in no element, no attribute and no
// character that steers a text. Each picture has a title, and a description for readers who
// do not see it.
func TestSVG(t *testing.T) {
	allowed := []string{"svg", "title", "desc", "rect", "text", "g", "path"}
	for name, p := range pictures(t) {
		var b, again bytes.Buffer
		if err := errors.Join(p.SVG(&b, 0), p.SVG(&again, 0)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: two drawings of a picture differ", name)
		}
		texts := make(map[string]int)
		d := xml.NewDecoder(&b)
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: not XML: %v", name, err)
			}
			switch e := token.(type) {
			case xml.CharData:
				checkCharacters(t, name, string(e))
			case xml.StartElement:
				texts[e.Name.Local]++
				if !slices.Contains(allowed, e.Name.Local) {
					t.Errorf("%s: an element <%s>", name, e.Name.Local)
				}
				for _, a := range e.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") || a.Name.Local == "id" {
						t.Errorf("%s: an attribute %s", name, a.Name.Local)
					}
					checkCharacters(t, name, a.Value)
				}
			}
		}
		if texts["title"] == 0 || texts["desc"] != 1 || texts["svg"] != 1 {
			t.Errorf("%s: elements %v", name, texts)
		}
	}
}

// label is the place of a text: its left and right end, and its line.
type label struct {
	words                    string
	left, right, top, bottom float64
}

var (
	textElement = regexp.MustCompile(`<text x="([^"]*)" y="([^"]*)" font-size="([^"]*)" textLength="([^"]*)" ` +
		`lengthAdjust="spacingAndGlyphs" fill="[^"]*"( font-weight="bold")?` +
		`( transform="rotate\(-90 [^"]*\)")?>([^<]*)</text>`)
	heightOf = regexp.MustCompile(`viewBox="0 0 720 ([^"]*)"`)
)

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// labels returns the texts of an SVG document with their places, and checks their widths.
func labels(t *testing.T, svg string) []label {
	t.Helper()
	var list []label
	for _, m := range textElement.FindAllStringSubmatch(svg, -1) {
		var at [4]float64
		for k := range at {
			x, err := strconv.ParseFloat(m[1+k], 64)
			if err != nil {
				t.Fatal(err)
			}
			at[k] = x
		}
		f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: font.Length(at[2])}
		if m[5] != "" {
			f.Weight = 3
		}
		face, words, width := font.DefaultCache.Lookup(f, f.Size), html.UnescapeString(m[7]), at[3]
		if want := float64(face.Width(words)); ascii(words) && math.Abs(want-width) > 0.01 {
			t.Errorf("%q is %v wide, said to be %v", words, want, width)
		}
		l := label{words, at[0], at[0] + width, at[1] - 0.72*at[2], at[1] + 0.2*at[2]} // capitals and descents
		if m[6] != "" {
			l = label{words, at[0] - 0.72*at[2], at[0] + 0.2*at[2], at[1] - width, at[1]}
		}
		list = append(list, l)
	}
	if n := strings.Count(svg, "<text "); n != len(list) {
		t.Errorf("%d of %d texts are understood", len(list), n)
	}
	return list
}

// TestNoOverlap: no text stands on another one, and all stand within the picture: with 26
// classes and 30 features, too.
func TestNoOverlap(t *testing.T) {
	for name, p := range pictures(t) {
		var b bytes.Buffer
		if err := p.SVG(&b, 0); err != nil {
			t.Fatal(err)
		}
		height, err := strconv.ParseFloat(heightOf.FindStringSubmatch(b.String())[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		list := labels(t, b.String())
		if len(list) < 4 {
			t.Errorf("%s: %d texts", name, len(list))
		}
		for i, a := range list {
			if a.left < 0 || a.right > chart.Width || a.top < 0 || a.bottom > height {
				t.Errorf("%s: %+v lies outside of %v times %v", name, a, chart.Width, height)
			}
			for _, c := range list[i+1:] {
				if a.left < c.right && c.left < a.right && a.top < c.bottom && c.top < a.bottom {
					t.Errorf("%s: %+v lies on %+v", name, a, c)
				}
			}
		}
	}
}

func checkCharacters(t *testing.T, name, s string) {
	t.Helper()
	for _, r := range s {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%s: character %q in %.60q", name, r, s)
		}
	}
}

// TestWidths: a picture has the width that was asked for; others are refused.
func TestWidths(t *testing.T) {
	p := pictures(t)["frontier of 13"]
	var b bytes.Buffer
	if err := p.SVG(&b, 333); err != nil || !strings.Contains(b.String(), ` width="333" `) {
		t.Errorf("%v: %.200s", err, b.String())
	}
	for _, width := range []int{-1, chart.MinPixels - 1, chart.MaxPixels + 1} {
		if p.SVG(io.Discard, width) == nil {
			t.Errorf("a picture of %d pixels", width)
		}
	}
}

// TestFrame: the frontier's points stand where the SVG element's attributes say, and within
// the frame.
func TestFrame(t *testing.T) {
	f := frontierOf(20, "")
	f.Points[3].Validation = runfolder.Part{}
	p, err := chart.Frontier(f)
	if err != nil {
		t.Fatal(err)
	}
	frame := p.Frame()
	if len(frame.Spots) != 20 {
		t.Fatalf("%d spots", len(frame.Spots))
	}
	var b bytes.Buffer
	if err := p.SVG(&b, 0); err != nil {
		t.Fatal(err)
	}
	for i, s := range frame.Spots {
		auc := frame.YMin
		if a := f.Points[i].Validation.AUC; a != nil {
			auc = *a
			circle := fmt.Sprintf(`M%g %gA4 4`, round(s.X+4), round(s.Y)) // begins at its right
			if !strings.Contains(b.String(), circle) {
				t.Errorf("no circle of point %d at %v", i, s)
			}
		}
		x := frame.Left + (f.Points[i].ExpectedCost-frame.XMin)/(frame.XMax-frame.XMin)*(frame.Right-frame.Left)
		y := frame.Bottom - (auc-frame.YMin)/(frame.YMax-frame.YMin)*(frame.Bottom-frame.Top)
		if math.Abs(s.X-x) > 1e-9 || math.Abs(s.Y-y) > 1e-9 {
			t.Errorf("point %d at %v, want %v, %v", i, s, x, y)
		}
		if s.X < frame.Left || s.X > frame.Right || s.Y < frame.Top-1e-9 || s.Y > frame.Bottom+1e-9 {
			t.Errorf("point %d at %v lies outside of %v", i, s, *frame)
		}
	}
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// TestLegend: the legend names the parts that have figures.
func TestLegend(t *testing.T) {
	all := pictures(t)
	for name, want := range map[string][]bool{
		"frontier of 13": {true, true}, "frontier without validation rows": {false, true},
		"frontier without test rows": {true, false},
	} {
		var b bytes.Buffer
		if err := all[name].SVG(&b, 0); err != nil {
			t.Fatal(err)
		}
		for k, words := range []string{">validation rows,", ">test rows<"} {
			if got := strings.Contains(b.String(), words); got != want[k] {
				t.Errorf("%s: %s in the legend: %v", name, words, got)
			}
		}
		if strings.Count(b.String(), `stroke="#000000" stroke-width="2"`) != 2 { // one in the legend
			t.Errorf("%s: no ring", name)
		}
	}
}

// TestDamaged: figures that no run writes are errors, or are drawn; nothing panics or has no end.
func TestDamaged(t *testing.T) {
	figures := []float64{
		-1, -1e-300, 0, 1e-300, 1e-9, 1, 1 + 1e-9, 1e300, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.NaN(),
	}
	refused := 0
	check := func(what string, p *chart.Picture, err error) {
		switch {
		case err != nil && !strings.Contains(err.Error(), ".json"):
			t.Errorf("%s: error %v", what, err)
		case err != nil:
			refused++
		default:
			var b bytes.Buffer
			if err := p.SVG(&b, 0); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
				t.Errorf("%s: a figure is no number", what)
			}
		}
	}
	for _, x := range figures {
		for k := range 4 {
			f := frontierOf(3, "")
			one := &f.Points[1]
			*[]*float64{&one.ExpectedCost, one.Validation.AUC, &one.Validation.Low, one.Test.AUC}[k] = x
			p, err := chart.Frontier(f)
			check(fmt.Sprintf("frontier %d %v", k, x), p, err)
			m := metricsOf(plain(3))
			curve, bin := m.Validation.PerClass[1].ROC, &m.Validation.Calibration.Bins[0]
			*[]*float64{
				&curve.FalsePositiveRate[3], &curve.TruePositiveRate[0], &bin.MeanProbability, &bin.ObservedShare,
			}[k] = x
			p, err = chart.ROC(m, "")
			check(fmt.Sprintf("roc %d %v", k, x), p, err)
			p, err = chart.Calibration(m)
			check(fmt.Sprintf("calibration %d %v", k, x), p, err)
			i := importanceOf(plain(3))
			*[]*float64{i.Features[0].AUCLost, i.Features[0].AUCPerCost, &i.Features[0].Impurity, i.AUC}[k] = x
			p, err = chart.Importance(i)
			check(fmt.Sprintf("importance %d %v", k, x), p, err)
		}
	}
	m := metricsOf(plain(3))
	m.Validation.PerClass[2].ROC.TruePositiveRate = nil
	p, err := chart.ROC(m, "")
	check("half a curve", p, err)
	for i := range m.Validation.Calibration.Bins {
		m.Validation.Calibration.Bins[i].Weight = 0
	}
	p, err = chart.Calibration(m)
	check("no rows", p, err)
	if refused < 60 {
		t.Errorf("%d documents are refused", refused)
	}
}

// TestNothingToDraw: an error says what a document lacks.
func TestNothingToDraw(t *testing.T) {
	empty := frontierOf(2, "")
	for i := range empty.Points {
		empty.Points[i].Validation, empty.Points[i].Test = runfolder.Part{}, runfolder.Part{}
	}
	for _, f := range []*runfolder.Frontier{{}, empty} {
		if _, err := chart.Frontier(f); err == nil || !strings.Contains(err.Error(), "AUC") {
			t.Errorf("error %v", err)
		}
	}
}

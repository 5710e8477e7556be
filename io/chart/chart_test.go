package chart_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/pagetest"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/svg"
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

// frontierOf returns a frontier with the given number of points.
func frontierOf(points int, unit string) *runfolder.Frontier {
	f := &runfolder.Frontier{}
	for i := range points {
		auc := 1 - 0.5/float64(i+1)
		f.Points = append(f.Points, runfolder.Point{
			Tree: runfolder.FrontierTree(i), Algorithm: tree.Algorithm{CostUnit: unit},
			Complexity: tree.Complexity{ExpectedCost: float64(i * i), Leaves: i + 1},
			Validation: metric.Judgement{AUC: defined(auc), Interval: &metric.Interval{Low: auc - 0.1, High: min(1, auc+0.1)}},
			Test:       metric.Judgement{AUC: defined(auc - 0.02)}, Merit: auc, Selected: i == points/2,
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
	same := frontierOf(2, "")
	for i := range same.Points {
		same.Points[i].Validation, same.Points[i].Test = metric.Judgement{AUC: defined(0.9)}, metric.Judgement{AUC: defined(0.9)}
	}
	p, err := chart.Frontier(same)
	add("frontier of one AUC", p, err)
	for part, name := range []string{"validation", "test"} {
		f := frontierOf(20, "")
		for i := range f.Points {
			*[]*metric.Judgement{&f.Points[i].Validation, &f.Points[i].Test}[part] = metric.Judgement{}
		}
		p, err := chart.Frontier(f)
		add("frontier without "+name+" rows", p, err)
	}
	for i, name := range nasty() {
		p, err := chart.Frontier(frontierOf(3, name))
		add(fmt.Sprintf("frontier in unit %d", i), p, err)
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
		f := importance.Feature{Name: name, Impurity: float64(i), ExpectedCost: 2}
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

// TestSVG: pictures are well formed, their texts do not overlap, and names bring in nothing, with 26 classes
// and 30 features, too. Two drawings of a picture are equal, and one for a page lacks the style alone.
func TestSVG(t *testing.T) {
	for name, p := range pictures(t) {
		var b, again, bare bytes.Buffer
		if err := errors.Join(p.SVG(&b, 0), p.SVG(&again, 0), p.Bare(&bare)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: two drawings of a picture differ", name)
		}
		if strings.Replace(b.String(), "<style>"+svg.CSS()+"</style>", "", 1) != bare.String() {
			t.Errorf("%s: the picture for a page is another one", name)
		}
		pagetest.CheckPicture(t, name, b.String())
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
	f.Points[3].Validation = metric.Judgement{}
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
		auc := *f.Points[i].Test.AUC
		if a := f.Points[i].Validation.AUC; a != nil {
			auc = *a
			circle := fmt.Sprintf(`cx="%g" cy="%g" r="4"`, round(s.X), round(s.Y))
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

// TestDearTrees: trees that cost many times as much and are not better do not squeeze the other trees; a note names them, and
// their spots are at the end of the axis. The run's tree is always drawn.
func TestDearTrees(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f *runfolder.Frontier)
		end    float64 // cost at the end of the axis
		says   string
	}{
		{"none", func(*runfolder.Frontier) {}, 81, ""},
		{"two dear ones", func(f *runfolder.Frontier) {
			for i, cost := range []float64{900, 1000} {
				p := f.Points[9]
				p.Tree, p.ExpectedCost, p.Merit = runfolder.FrontierTree(10+i), cost, p.Merit-0.01
				f.Points = append(f.Points, p)
			}
		}, 81, "not drawn: 2 trees that cost 900 to 1000"},
		{"the last one is the run's", func(f *runfolder.Frontier) {
			f.Points[5].Selected, f.Points[9].Selected = false, true
			f.Points[9].ExpectedCost, f.Points[9].Merit = 1000, 0.1
		}, 1000, ""},
		{"a limit", func(f *runfolder.Frontier) { f.Limits.ExpectedCost = 90 }, 90, "limit 90"},
		{"a far limit", func(f *runfolder.Frontier) { f.Limits.ExpectedCost = 900 }, 81, "the limit, 900, is above"},
	} {
		f := frontierOf(10, "")
		c.change(f)
		p, err := chart.Frontier(f)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.SVG(&b, 0); err != nil {
			t.Fatal(err)
		}
		pagetest.CheckPicture(t, c.name, b.String())
		frame := p.Frame()
		if math.Abs(frame.XMax-c.end*1.03) > 1e-9 || !strings.Contains(b.String(), c.says) {
			t.Errorf("%s: the axis ends at %v, want %v and %q", c.name, frame.XMax, c.end*1.03, c.says)
		}
		for i, s := range frame.Spots {
			if s.X < frame.Left || s.X > frame.Right || s.Y < frame.Top-1e-9 || s.Y > frame.Bottom+1e-9 {
				t.Errorf("%s: point %d at %v lies outside of %v", c.name, i, s, *frame)
			}
		}
	}
}

// TestFolds: without validation rows the AUC on the folds is drawn, and the mark of a tree is at it.
func TestFolds(t *testing.T) {
	f := frontierOf(5, "")
	for i := range f.Points {
		f.Points[i].Folds, f.Points[i].Validation = defined(0.6+0.05*float64(i)), metric.Judgement{}
	}
	p, err := chart.Frontier(f)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.SVG(&b, 0); err != nil {
		t.Fatal(err)
	}
	pagetest.CheckPicture(t, "folds", b.String())
	for i, s := range p.Frame().Spots {
		if want := p.Frame().At(f.Points[i].ExpectedCost, *f.Points[i].Folds); s != want {
			t.Errorf("point %d at %v, want %v", i, s, want)
		}
	}
	if !strings.Contains(b.String(), "folds of the training rows") || strings.Contains(b.String(), "validation rows") {
		t.Error("the legend does not name the folds")
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
		if strings.Count(b.String(), `class="es-ink-line" fill="none" stroke-width="2"`) != 2 { // one in the legend
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
	two := metricsOf(plain(2))
	two.Validation.PerClass[1].ROC = nil
	p, err = chart.ROC(two, "")
	check("one of two curves", p, err)
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
		empty.Points[i].Validation, empty.Points[i].Test = metric.Judgement{}, metric.Judgement{}
	}
	for _, f := range []*runfolder.Frontier{{}, empty} {
		if _, err := chart.Frontier(f); err == nil || !strings.Contains(err.Error(), "AUC") {
			t.Errorf("error %v", err)
		}
	}
}

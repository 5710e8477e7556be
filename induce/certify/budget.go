package certify

import (
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// MaxBytes bounds the memory of the training objects, which a certificate holds all at once.
const MaxBytes = 2 << 30

// objectBytes is the memory of an object in addition to its codes: class, weight and rows.
const objectBytes = 16

// ObjectsBytes returns the memory of n training objects with codes of stride bytes.
func ObjectsBytes(n int64, stride int) int64 { return n * int64(stride+objectBytes) }

// Room returns the memory of n training objects in bytes, and whether trees that grow from them can
// have a certificate: if the memory is at most MaxBytes and there is a feature to test.
func Room(features []dataset.Feature, n int64) (bytes int64, fits bool) {
	if len(features) == 0 {
		return 0, false
	}
	bytes = ObjectsBytes(n, dataset.NewLayout(features).Stride)
	return bytes, bytes <= MaxBytes
}

// Run is the shape of a training run. The budget of its certificate depends on nothing else, so the
// certificate is the same on every machine.
type Run struct {
	Trees    int64 // grown trees; each tree of the grid counts once, and once more for each fold
	Objects  int64 // training objects
	Rows     int64 // training rows
	Features int64
}

// The budget of a certificate has three parts: steps for each code of an object and each grown tree,
// steps for each value that the run reads, and a fixed number of steps. By measurement on the public
// data sets the sum takes about a tenth of the run's time.
const (
	stepsPerGrown = 3 // for four codes
	stepsPerRead  = 4
	stepsOfRun    = 10_000_000
)

// Budget returns the budget of the run's certificate, in steps: see Options.Budget.
func (r Run) Budget() int64 {
	return stepsPerGrown*r.Trees*r.Objects*r.Features/4 + stepsPerRead*r.Rows*r.Features + stepsOfRun
}

// effort is the amount of work for a bound: the number of objects drawn, and the
// depth of the search for each. It is chosen before the work begins, from the shape
// of the data alone, so the bound is the same on every machine.
type effort struct {
	pilot    int // objects of the pilot
	sample   int // objects of the sample, drawn after the pilot
	universe int // objects searched for rivals
	peers    int // objects drawn afresh for each object of a sample
	work     int // see Options.Work
}

// preparing is the number of steps for one code of an object before the search: to
// hash, sort and count it.
const preparing = 10

// steps estimates the number of steps of an effort. By measurement on the public data sets, a search
// takes three quarters of its work on average, but few steps for each code if there are few objects.
func (p *problem) steps(e effort, values int) int64 {
	const perCode = 32
	draw := p.drawSteps(e)
	search := min(int64(e.work)/4*3, perCode*int64(len(p.codes)))
	return p.prepared() + int64(e.pilot)*(draw+int64(values)*search) + int64(e.sample)*(draw+search)
}

func (p *problem) prepared() int64 { return preparing * int64(len(p.codes)) }

// drawSteps estimates the number of steps for one object before the search for its
// leaf: to find rivals, list their cuts and lay out the peers.
func (p *problem) drawSteps(e effort) int64 {
	width := int64(len(p.features))
	codes := int64(0)
	for f := range p.features {
		codes += int64(len(p.features[f].weight))
	}
	universe := int64(min(e.universe, p.len()))
	peers := int64(min(e.peers, p.len()))
	const perRival = 8 // steps for one feature of a rival
	return universe*(int64(2*p.words)+width/8+4) + peers*(3*width+20) + perRival*(maxNear+maxCentral)*width + 4*codes
}

// The efforts within a budget. Depth of the search pays more than the number of objects, and objects
// pay more than peers. Measured on the public data sets, 2048 objects searched for rivals and 64 peers
// give as good a bound as many times these numbers, if the search covers 65,536 codes.
const (
	leastUniverse = 1 << 11
	leastPeers    = 1 << 6
	leastPilot    = 12
	leastSample   = 50
	deepWork      = 1 << 16 // the work of the least universe and the least peers
	leastWork     = 1 << 12
)

// plan returns the greatest effort within the budget: all parts shrink together down to deepWork, then
// the sample shrinks, then the work. The least effort may exceed the budget.
func (p *problem) plan(opts *Options, values int) effort {
	e := effort{pilot: pilotSize, sample: opts.Sample, universe: maxUniverse, peers: peerSample, work: opts.Work}
	for opts.Budget > 0 && p.steps(e, values) > opts.Budget {
		switch {
		case e.work > deepWork:
			e.work /= 2
			e.peers = max(leastPeers, e.peers/4)
			e.universe = max(leastUniverse, e.universe/2)
		case e.sample > leastSample:
			e.sample = max(leastSample, e.sample*3/4)
			e.pilot = max(leastPilot, e.pilot*3/4)
		case e.work > leastWork:
			e.work /= 2
		default:
			return e
		}
	}
	return e
}

// meter counts the steps of a bound, reports them, and ends the work on request.
type meter struct {
	done, cut atomic.Int64 // steps; objects whose search reached the limit of work
	stopped   atomic.Bool
	stop      func() bool
	progress  func(done int64)
}

// stops reports whether the work is to end. It is called once in some thousand
// steps.
func (m *meter) stops() bool {
	if m.stop != nil && !m.stopped.Load() && m.stop() {
		m.stopped.Store(true)
	}
	return m.stopped.Load()
}

func (m *meter) add(steps int64) {
	done := m.done.Add(steps)
	if m.progress != nil {
		m.progress(done)
	}
}

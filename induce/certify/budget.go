package certify

import "sync/atomic"

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

// least returns the effort at the smallest budget.
func least() effort {
	return effort{pilot: 12, sample: 40, universe: 1 << 11, peers: 1 << 8, work: 1 << 12}
}

// preparing is the number of steps for one code of an object before the search: to
// hash, sort and count it.
const preparing = 10

// steps estimates the number of steps of an effort.
func (p *problem) steps(e effort, values int) int64 {
	draw, half := p.drawSteps(e), int64(e.work/2)
	return p.prepared() + int64(e.pilot)*(draw+int64(values)*half) + int64(e.sample)*(draw+half)
}

func (p *problem) prepared() int64 { return preparing * int64(len(p.codes)) }

// drawSteps estimates the number of steps for one object before the search for its
// leaf: to find rivals, list their cuts and lay out the peers.
func (p *problem) drawSteps(e effort) int64 {
	width, codes := int64(len(p.features)), int64(0)
	for f := range p.features {
		codes += int64(len(p.features[f].weight))
	}
	universe, peers := int64(min(e.universe, p.len())), int64(min(e.peers, p.len()))
	const perRival = 8 // steps for one feature of a rival
	return universe*(int64(2*p.words)+width/8+4) + peers*(3*width+20) + perRival*(maxNear+maxCentral)*width + 4*codes
}

// plan returns the greatest effort within the budget. It starts with the effort of
// the options, and lowers one part after the other, down to the least effort.
func (p *problem) plan(opts *Options, values int) effort {
	e := effort{pilot: pilotSize, sample: opts.Sample, universe: maxUniverse, peers: peerSample, work: opts.Work}
	if opts.Budget <= 0 {
		return e
	}
	low := least()
	for _, halve := range []func(){
		func() { e.work = max(low.work, e.work/2) },
		func() { e.peers = max(low.peers, min(e.peers, p.len())/2) },
		func() { e.universe = max(low.universe, min(e.universe, p.len())/2) },
		func() { e.work = max(low.work, e.work/2) },
		func() { e.peers = max(low.peers, e.peers/2) },
		func() { e.work = max(low.work, e.work/4) },
		func() { e.peers = max(low.peers, e.peers/2) },
		func() { e.sample = max(low.sample, e.sample*3/4) },
		func() { e.universe = max(low.universe, e.universe/4) },
		func() { e.peers = low.peers },
		func() { e.sample = max(low.sample, e.sample*3/4) },
		func() { e.pilot = max(low.pilot, e.pilot*3/4) },
		func() { e.work = low.work },
		func() { e = low; e.sample = min(low.sample, opts.Sample) },
	} {
		if p.steps(e, values) <= opts.Budget {
			break
		}
		halve()
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

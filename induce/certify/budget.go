package certify

import "sync/atomic"

// effort is how much work a bound takes: how many objects are drawn, and how far is
// looked for each. It is chosen before the work begins, from the shape of the data
// alone, so that the bound is the same on every machine.
type effort struct {
	pilot    int // objects on which the value is chosen
	sample   int // objects drawn after them
	universe int // objects that rivals are looked for in
	peers    int // objects drawn afresh for each object of a sample
	work     int // see Options.Work
}

// least is the least effort, whatever the budget.
func least() effort {
	return effort{pilot: 12, sample: 40, universe: 1 << 11, peers: 1 << 8, work: 1 << 12}
}

// preparing is the number of steps that a code of an object takes until the search
// begins: it is hashed, sorted, and counted.
const preparing = 10

// steps returns about how many steps an effort takes.
func (p *problem) steps(e effort, values int) int64 {
	draw, half := p.drawSteps(e), int64(e.work/2)
	return p.prepared() + int64(e.pilot)*(draw+int64(values)*half) + int64(e.sample)*(draw+half)
}

func (p *problem) prepared() int64 { return preparing * int64(len(p.codes)) }

// drawSteps returns about how many steps an object takes until the search for its
// leaf begins: looking for rivals, listing their cuts, and laying out its peers.
func (p *problem) drawSteps(e effort) int64 {
	width, codes := int64(len(p.attributes)), int64(0)
	for f := range p.attributes {
		codes += int64(len(p.attributes[f].weight))
	}
	universe, peers := int64(min(e.universe, p.len())), int64(min(e.peers, p.len()))
	const perRival = 8 // steps that an attribute of a rival takes
	return universe*(int64(2*p.words)+width/8+4) + peers*(3*width+20) + perRival*(maxNear+maxCentral)*width + 4*codes
}

// plan returns the greatest effort within the budget, beginning with what the options
// ask for: each part in turn is halved, down to its least.
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

// meter counts the steps of a bound, says how many there are, and ends the work when
// it is asked to.
type meter struct {
	done, cut atomic.Int64 // steps; objects whose search was left before its end
	stopped   atomic.Bool
	stop      func() bool
	progress  func(done int64)
}

// stops reports whether the work is to end. It asks now and then: it is called for
// some thousand steps at a time.
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

package certify

import "github.com/espalier-ml/espalier/induce/dataset"

// Mode is how much work a run spends on its certificate.
type Mode string

// The modes.
const (
	None  Mode = "none"  // no certificate
	Quick Mode = "quick" // a sample of 100 objects, and a budget of about a tenth of the run: see Run.Budget
	Full  Mode = "full"  // the sample and the work that are the defaults of Options
)

// The sample and the work of a quick certificate: see Options.
const (
	quickSample = 100
	quickWork   = 1 << 17
)

// Answer says whether a tree can have a certificate, or why not.
type Answer uint8

// The answers.
const (
	Possible   Answer = iota + 1 // the tree can have a certificate
	NotAsked                     // the mode is None
	NoFeatures                   // there is no feature to test, so every tree is a single leaf
	TooLarge                     // the training objects do not fit in the memory that certificates may take
)

// MaxBytes bounds the memory of the training objects, which a certificate holds all at
// once.
const MaxBytes = 2 << 30

// objectBytes is the memory of an object beside its codes: class, weight and rows.
const objectBytes = 16

// ObjectsBytes returns the memory of so many training objects with codes of stride bytes.
func ObjectsBytes(objects int64, stride int) int64 { return objects * int64(stride+objectBytes) }

// Decision says whether a tree can have a certificate.
type Decision struct {
	Answer Answer
	Bytes  int64 // memory of the training objects; 0 if the answer is NotAsked or NoFeatures
}

// Decide decides whether trees over the features, grown from a number of objects, can
// have a certificate.
func (m Mode) Decide(features []dataset.Feature, objects int64) Decision {
	switch {
	case m == None:
		return Decision{Answer: NotAsked}
	case len(features) == 0:
		return Decision{Answer: NoFeatures}
	}
	bytes := ObjectsBytes(objects, dataset.NewLayout(features).Stride)
	if bytes > MaxBytes {
		return Decision{TooLarge, bytes}
	}
	return Decision{Possible, bytes}
}

// Run is the shape of a training run. The budget of a quick certificate depends on
// nothing else, so the certificate is the same on every machine.
type Run struct {
	Trees    int64 // grown trees; each tree of the grid counts once, and once more for each fold
	Objects  int64 // training objects
	Rows     int64 // training rows
	Features int64
}

// The budget of a quick certificate has three parts: steps for each code of an object
// and each grown tree, steps for each value that the run reads, and a fixed number of
// steps. By measurement on the public data sets the sum takes about a tenth of the
// run's time.
const (
	stepsPerGrown = 3 // for four codes
	stepsPerRead  = 4
	stepsOfRun    = 10_000_000
)

// Budget returns the budget of the run's quick certificate, in steps: see
// Options.Budget.
func (r Run) Budget() int64 {
	return stepsPerGrown*r.Trees*r.Objects*r.Features/4 + stepsPerRead*r.Rows*r.Features + stepsOfRun
}

// stepsOfSearch are the steps of the greatest search, about, whatever the number of objects.
const stepsOfSearch = 400_000_000

// MostSteps returns about the most steps that the run's quick certificate takes: those of its
// budget, or fewer where the greatest search over all objects does not need as many.
func (r Run) MostSteps() int64 { return min(r.Budget(), preparing*r.Objects*r.Features+stepsOfSearch) }

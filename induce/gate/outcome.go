package gate

// What has become of a new tree.
const (
	Promoted   = "promoted"   // LATEST.json names its run
	Backfilled = "backfilled" // its run has passed the checks, but the run in use is of a later day
	Held       = "held"       // its run has passed the checks, but a person holds the run in use
	Refused    = "refused"    // a check has failed; LATEST.json stays
	Overtaken  = "overtaken"  // another program has moved LATEST.json first
)

package metric

// Surprise returns the log loss, in nats, of a row whose true class had
// probability p, which is clipped to [1e-15, 1 - 1e-15].
func Surprise(p float64) float64 { return surprise(p) }

package binning

// Bytes returns the approximate memory of the summary, in bytes.
func (s *Summary) Bytes() int {
	const perText = 64 // string header, weight, share of the map, and a short text
	return 16*(cap(s.numbers.slots)+cap(s.numbers.list)) + perText*len(s.texts)
}

// FitNumeric is Fitter.FitNumeric in new memory.
func FitNumeric(s *Summary, m Method, bins int) []float64 { return new(Fitter).FitNumeric(s, m, bins) }

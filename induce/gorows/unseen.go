package gorows

import "github.com/espalier-ml/espalier/induce/dataset"

// Unseen returns the names of the tested features for which a row has a value that training did
// not have, see dataset.Novelty: an unlisted category, a number out of range, or a missing value if
// no training row had one. It returns the same errors as Predict.
func (s *MapScorer) Unseen(row map[string]any) (names []string, err error) {
	cells, err := s.cells(row, nil)
	if err != nil {
		return nil, err
	}
	for i := range cells {
		var n dataset.Novelty
		switch c := &cells[i]; c.Type {
		case dataset.Number:
			n = s.watches[i].Number(c.Number)
		case dataset.Text:
			n = s.watches[i].Text(c.Text)
		default:
			n = s.watches[i].Missing()
		}
		if n.New() > 0 {
			names = append(names, s.binding.Scorer.Features()[i].Name)
		}
	}
	return names, nil
}

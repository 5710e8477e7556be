package frontier

// Association is how strongly the feature that is associated most with the class is associated with it.
type Association struct {
	Feature string `json:"feature"`
	// P is the p-value: the probability of an association that is at least as strong, of any of the features, if no feature
	// is associated with the class.
	P float64 `json:"p_value" jsonschema:"minimum=0,maximum=1"`
}

// level is the greatest p-value of an association that is believed. In each of 15 kinds of rows without a signal, at most
// 5 of 100 trees may have more than one leaf, and chance may make these more than what is expected.
const level = 0.02

// suspicion is the greatest p-value of an association that is believed if a tree lowers the total cost enough: see enoughGain.
const suspicion = 0.2

// Suspected reports whether the association may be more than chance. A nil association is not known.
func (a *Association) Suspected() bool { return a != nil && a.P <= suspicion }

// Believed reports whether the association is more than chance. A nil association is not known.
func (a *Association) Believed() bool { return a != nil && a.P <= level }

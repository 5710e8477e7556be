package metric

// Judgement is how good a tree is on rows that did not grow it: on a part of the rows, or on average over folds. A
// figure is nil if the rows do not define it.
type Judgement struct {
	AUC       *float64 `json:"auc" jsonschema:"nullable,minimum=0,maximum=1"` // see Metrics.AUCOvRMacro
	*Interval          // interval of AUC; nil if it is not defined

	LogLoss  *float64 `json:"log_loss" jsonschema:"nullable,minimum=0"`            // nats
	Accuracy *float64 `json:"accuracy,omitempty" jsonschema:"minimum=0,maximum=1"` // absent in files of earlier versions

	// ErrorCost is the mean cost of the predictions; absent without error costs.
	ErrorCost *float64 `json:"expected_error_cost,omitempty" jsonschema:"minimum=0"`
	// TotalCost is the mean cost of the tests and of the predictions; absent without error costs.
	TotalCost *float64 `json:"expected_total_cost,omitempty" jsonschema:"minimum=0"`
}

// Figures lists the figures without the interval, in the order of grown.bin.
func (j *Judgement) Figures() [5]**float64 {
	return [...]**float64{&j.AUC, &j.LogLoss, &j.Accuracy, &j.ErrorCost, &j.TotalCost}
}

// Minus returns the difference of two judgements. A figure is nil if it is nil in one of them.
func (j Judgement) Minus(other Judgement) Judgement {
	return j.combined(other, func(a, b *float64) *float64 {
		if a == nil || b == nil {
			return nil
		}
		return new(*a - *b)
	})
}

// Plus returns the judgement after a change. Figures whose change is nil stay as they are. A change that was measured with
// other trees may exceed the range of a figure; the figure then is the end of the range.
func (j Judgement) Plus(change Judgement) Judgement {
	sum := j.combined(change, func(a, b *float64) *float64 {
		if a == nil || b == nil {
			return a
		}
		return new(max(*a+*b, 0))
	})
	for _, share := range []*float64{sum.AUC, sum.Accuracy} {
		if share != nil {
			*share = min(*share, 1)
		}
	}
	return sum
}

// Mix returns the mean of two judgements, in which the other judgement has the given share. A figure that is nil in one
// judgement is the figure of the other judgement.
func (j Judgement) Mix(other Judgement, share float64) Judgement {
	return j.combined(other, func(a, b *float64) *float64 {
		switch {
		case a == nil:
			return b
		case b == nil:
			return a
		default:
			return new(float64((1-share)**a) + float64(share**b))
		}
	})
}

func (j Judgement) combined(other Judgement, f func(a, b *float64) *float64) Judgement {
	var made Judgement
	a := j.Figures()
	b := other.Figures()
	for i, figure := range made.Figures() {
		*figure = f(*a[i], *b[i])
	}
	return made
}

package portable

// Sum adds numbers, the first one first.
func Sum[T int | int64 | float64](list []T) (sum T) {
	for _, x := range list {
		sum += x
	}
	return sum
}

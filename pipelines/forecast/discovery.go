package forecast

import "math"

// discovery foresees how many objects rows make, from a sample of them. The
// estimator of Good and Turing (Good 1953) gives the probability that the row after k
// rows makes a new object: the share of rows, among the k, that are alone in their object.
// Between half of the sample and all of it, this probability falls by a power of k. It is
// assumed to fall by the same power beyond the sample, as in Heaps' law of the words of a
// language. If rows are drawn from a pool larger than the sample, the probability falls
// faster in the end, and the forecast is too high.
type discovery struct {
	rows    float64 // of the sample
	objects float64 // number of objects of the sample
	chance  float64 // probability of a new object for one row more
	decay   float64 // power by which the chance falls
}

// Tally counts the objects of a sample by their rows.
type Tally struct {
	rows, objects int64
	single        int64   // objects of one row
	halfSingle    float64 // objects of one row among a random half of the sample, on average
}

// Add counts an object of so many rows. A random half leaves r of its rows with
// the chance C(rows, r) / 2^rows.
func (t *Tally) Add(rows int64) {
	t.rows += rows
	t.objects++
	if rows == 1 {
		t.single++
	}
	t.halfSingle += math.Ldexp(float64(rows), -int(min(rows, 1000)))
}

func (t *Tally) discovery() discovery {
	d := discovery{rows: float64(t.rows), objects: float64(t.objects)}
	if t.single == 0 {
		return d
	}
	d.chance = float64(t.single) / d.rows
	d.decay = max(0, math.Log2(t.halfSingle/(d.rows/2)/d.chance))
	return d
}

// at returns the objects that so many rows make: those of the sample, and the
// chance of a new one integrated from there on.
func (d *discovery) at(rows float64) float64 {
	if d.rows == 0 || rows == d.rows {
		return d.objects
	}
	times, power := rows/d.rows, 1-d.decay
	grown := math.Log(times)
	if math.Abs(power) > 1e-9 {
		grown = (math.Pow(times, power) - 1) / power
	}
	return min(rows, max(min(1, rows), d.objects+float64(d.chance*d.rows*grown)))
}

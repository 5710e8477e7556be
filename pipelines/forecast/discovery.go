package forecast

import "math"

// discovery predicts how many objects rows make, from a sample of them. The estimator of Good and
// Turing (Good 1953) gives the probability that the next row after k rows makes a new object: the
// share of the k rows that are alone in their object. Starting at an eighth of the sample, the
// decrease of this probability at each doubling of the rows is a certain ratio of its decrease at
// the previous doubling. The ratio is assumed to continue beyond the sample as it developed within
// it. It stays the same if the objects follow Heaps' law, as the words of a language do, and falls
// if rows are sampled from a pool that the sample has nearly exhausted; the remaining probability
// is the share of rows that are like no other row. If the pool is larger than the sample, the
// forecast is too high.
type discovery struct {
	rows    float64 // number of rows of the sample
	objects float64 // number of objects of the sample
	chance  float64 // probability that the next row makes a new object
	decay   float64 // power by which the chance falls from half of the sample to all of it
	fall    float64 // decrease of the chance at the last doubling
	ratio   float64 // ratio of this decrease to the decrease at the previous doubling
	change  float64 // change of the ratio from one doubling to the next
}

// Tally counts the objects of a sample by their rows.
type Tally struct {
	rows, objects int64
	single        int64      // objects of a single row
	halfSingle    float64    // objects of a single row in a random half of the sample, on average
	lessSingle    [2]float64 // the same in a random quarter and in a random eighth
}

// Add counts an object of this many rows. A random half keeps r of its rows with the probability
// C(rows, r) / 2^rows.
func (t *Tally) Add(rows int64) {
	t.rows += rows
	t.objects++
	if rows == 1 {
		t.single++
	}
	t.halfSingle += math.Ldexp(float64(rows), -int(min(rows, 1000)))
	t.lessSingle[0] += float64(float64(rows) / 4 * math.Pow(3./4, float64(rows-1)))
	t.lessSingle[1] += float64(float64(rows) / 8 * math.Pow(7./8, float64(rows-1)))
}

func (t *Tally) discovery() discovery {
	d := discovery{rows: float64(t.rows), objects: float64(t.objects)}
	if t.single == 0 {
		return d
	}
	d.chance = float64(t.single) / d.rows
	half, quarter, eighth := t.halfSingle/(d.rows/2), t.lessSingle[0]/(d.rows/4), t.lessSingle[1]/(d.rows/8)
	d.decay = max(0, math.Log2(half/d.chance))
	d.fall, d.ratio, d.change = max(0, half-d.chance), 1, 1
	if earlier := quarter - half; earlier > 0 {
		d.ratio = d.fall / earlier
		if first := eighth - quarter; first > 0 && d.ratio > 0 {
			d.change = min(1, d.ratio*first/earlier)
		}
	}
	return d
}

// at returns how many objects this many rows make: the objects of the sample, plus the integral of
// the chance of a new object beyond it.
func (d *discovery) at(rows float64) float64 {
	if d.rows == 0 || rows == d.rows {
		return d.objects
	}
	if rows > d.rows {
		return min(rows, d.beyond(rows))
	}
	times, power := rows/d.rows, 1-d.decay
	grown := math.Log(times)
	if math.Abs(power) > 1e-9 {
		grown = (math.Pow(times, power) - 1) / power
	}
	return min(rows, max(min(1, rows), d.objects+float64(d.chance*d.rows*grown)))
}

// beyond returns how many objects more rows than the sample make, doubling by doubling.
func (d *discovery) beyond(rows float64) float64 {
	objects, chance, fall, ratio, change := d.objects, d.chance, d.fall, d.ratio, d.change
	for from := d.rows; from < rows && chance > 0; from *= 2 {
		ratio, change = ratio*change, change*change // the square, because a pool is exhausted exponentially
		fall = float64(fall * ratio)
		next := max(0, chance-fall)
		more := min(from, rows-from)
		objects += float64(more * (chance + float64((next-chance)*more/from/2)))
		chance = next
	}
	return objects
}

package drift

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/wire"
)

// groupsOfRows is about the number of groups of codes whose shares a design effect is found by.
const groupsOfRows = 16

// Groups divides the codes of a column into a few groups of neighbours with about as many rows each. It returns the
// group of each code, from 0 on.
func (c *Column) Groups(rows []int64) (of []int64) {
	all := Rows(rows)
	of = make([]int64, len(rows))
	var sum, groups int64
	for code, n := range rows {
		if code == c.Other || code == c.Missing {
			continue
		}
		of[code] = groups
		if sum += n; sum > all/groupsOfRows {
			sum = 0
			groups++
		}
	}
	groups++ // the codes after the last full group
	for _, code := range []int{c.Other, c.Missing} {
		if code >= 0 {
			of[code] = groups
			groups++
		}
	}
	return of
}

// KeyCounts counts the rows of grouped objects by bucket of keys.
type KeyCounts struct {
	groups  [][]int64                  // by feature and code, see Column.Groups
	buckets [][dataset.Buckets][]int64 // by feature: rows by bucket and group
	seen    [][]uint64                 // by categorical feature and code: set of buckets
}

// NewKeyCounts returns counts without rows. rows has the training rows by feature and code.
func NewKeyCounts(features []dataset.Feature, rows [][]int64) *KeyCounts {
	k := &KeyCounts{buckets: make([][dataset.Buckets][]int64, len(features)), seen: make([][]uint64, len(features))}
	for i := range features {
		c := ColumnOf(&features[i])
		k.groups = append(k.groups, c.Groups(rows[i]))
		for b := range k.buckets[i] {
			k.buckets[i][b] = make([]int64, slices.Max(k.groups[i])+1)
		}
		if !c.Ordered {
			k.seen[i] = make([]uint64, len(rows[i]))
		}
	}
	return k
}

// Add counts objects, which must be grouped.
func (k *KeyCounts) Add(o *dataset.Objects) {
	for i := range k.groups {
		codes := &o.Codes[i]
		for j := range o.Len() {
			code := codes.At(j)
			for _, share := range o.Groups(j) {
				if share.Rows > 0 {
					k.Count(i, code, share.Bucket, share.Rows)
				}
			}
		}
	}
}

// Count counts rows, at least 1, with a code of a feature whose keys are in a bucket.
func (k *KeyCounts) Count(feature, code int, bucket uint8, rows int64) {
	k.buckets[feature][bucket][k.groups[feature][code]] += rows
	if k.seen[feature] != nil {
		k.seen[feature][code] |= 1 << bucket
	}
}

// Encode returns the counts in a form that merges.
func (k *KeyCounts) Encode() []byte {
	var b wire.Writer
	for i := range k.buckets {
		for bucket := range k.buckets[i] {
			for _, rows := range k.buckets[i][bucket] {
				b = b.Count(rows)
			}
		}
		for _, set := range k.seen[i] {
			b = b.Count(int64(set))
		}
	}
	return b
}

// Merge adds encoded counts of the same features.
func (k *KeyCounts) Merge(b []byte) error {
	r := wire.Reader{Rest: b}
	for i := range k.buckets {
		for bucket := range k.buckets[i] {
			for group := range k.buckets[i][bucket] {
				k.buckets[i][bucket][group] += r.Count()
			}
		}
		for code := range k.seen[i] {
			k.seen[i][code] |= uint64(r.Count())
		}
	}
	if r.Bad || len(r.Rest) > 0 {
		return errCounts
	}
	return nil
}

var errCounts = errors.New("counts of keys: damaged, or of other features")

// Effect returns the design effect of a feature.
func (k *KeyCounts) Effect(feature int) float64 { return DesignEffect(&k.buckets[feature]) }

// Keys returns the number of buckets by code of a categorical feature; nil for numeric features.
func (k *KeyCounts) Keys(feature int) []int64 {
	if k.seen[feature] == nil {
		return nil
	}
	keys := make([]int64, len(k.seen[feature]))
	for code, set := range k.seen[feature] {
		keys[code] = int64(bits.OnesCount64(set))
	}
	return keys
}

// DesignEffect returns the design effect of rows that come in groups with the same key (Kish 1965): the ratio of the
// variance of a share of the rows to the variance of a share of independent rows. It is the greatest such ratio
// among groups of codes, and among the codes up to a group, but at least 1. buckets has the rows by
// bucket of keys and group of codes. The variance of a share follows from its residuals by bucket: the rows
// of a bucket in the share, less the share of all rows of the bucket.
func DesignEffect(buckets *[dataset.Buckets][]int64) float64 {
	var rows, part [dataset.Buckets]int64
	n := int64(0)
	for b, list := range buckets {
		rows[b] = Rows(list)
		n += rows[b]
	}
	effect := 1.0
	for group := range buckets[0] {
		var single [dataset.Buckets]int64
		for b := range buckets {
			single[b] = buckets[b][group]
			part[b] += single[b]
		}
		effect = max(effect, effectOf(&single, &rows, n), effectOf(&part, &rows, n))
	}
	return effect
}

// effectOf returns the design effect of a share of n rows; 0 if the share is 0 or 1.
func effectOf(part, rows *[dataset.Buckets]int64, n int64) float64 {
	k := Rows(part[:])
	if k == 0 || k == n {
		return 0
	}
	share := float64(k) / float64(n)
	sum := 0.0
	for b := range part {
		residual := float64(part[b]) - float64(share*float64(rows[b]))
		sum += float64(residual * residual)
	}
	return sum / float64(float64(k)*(1-share)) * dataset.Buckets / (dataset.Buckets - 1)
}

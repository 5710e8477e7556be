package main

import "testing"

func TestGarbagePercent(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 300}, {1 << 20, 300}, {16 << 20, 300}, {32 << 20, 300}, {48 << 20, 200}, {96 << 20, 100}, {1 << 30, 40}, {1 << 40, 40},
	} {
		if got := garbagePercent(c.live); got != c.want {
			t.Errorf("%d live bytes: got %d %%, expected %d", c.live, got, c.want)
		}
	}
}

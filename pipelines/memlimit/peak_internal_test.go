package memlimit

import "testing"

func TestPeakOf(t *testing.T) {
	got, err := peakOf([]byte("Name:\tespalier\nVmPeak:\t 9 kB\nVmHWM:\t   1234 kB\nVmRSS:\t 3 kB\n"))
	if got != 1234 || err != nil {
		t.Errorf("%d kB, %v, want 1234", got, err)
	}
	if _, err := peakOf([]byte("Name:\tespalier\n")); err == nil {
		t.Error("no error without a peak")
	}
	if PeakMemory() < 1<<20 {
		t.Error("this process has less than a MiB")
	}
}

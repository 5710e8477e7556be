package memlimit

import (
	"bytes"
	"errors"
	"math"
	"os"
	"runtime"
	"strconv"
)

// PeakMemory returns the peak memory of this process in bytes, as reported by Linux; on other
// systems the memory that the Go runtime has taken from the system.
func PeakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		if kilobytes, err := peakOf(status); err == nil {
			return kilobytes << 10
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(min(m.Sys, math.MaxInt64))
}

var errNoPeak = errors.New("no VmHWM")

// peakOf returns the peak of resident memory in kilobytes of a status file.
func peakOf(status []byte) (int64, error) {
	for line := range bytes.Lines(status) {
		if text, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			return strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(text), []byte(" kB"))), 10, 64)
		}
	}
	return 0, errNoPeak
}

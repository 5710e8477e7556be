package usage_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// TestNatureOf: the place of an error changes its words, not its nature.
func TestNatureOf(t *testing.T) {
	data := &dataset.DataError{File: "a.parquet", Problem: "damaged"}
	outage := httpstore.Failed(&httpstore.GaveUpError{Tries: 8, Err: &httpstore.StatusError{Code: 503}})
	closed := httpstore.Failed(&httpstore.GaveUpError{Tries: 8, Err: io.EOF})
	refused := httpstore.Failed(&httpstore.GaveUpError{Tries: 8, Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}})
	unknown := httpstore.Failed(&httpstore.GaveUpError{Tries: 1, Err: &net.DNSError{Name: "store", IsNotFound: true}})
	denied := httpstore.Failed(&httpstore.StatusError{Code: 403})
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	stale := &fs.PathError{Op: "open", Path: "x", Err: syscall.ESTALE}
	for _, c := range []struct {
		err  error
		want usage.Nature
	}{
		{errors.New("a bug"), usage.Internal},
		{usage.Errorf("--input: none"), usage.Usage},
		{data, usage.Data},
		{outage, usage.TryAgain},
		{closed, usage.TryAgain},
		{refused, usage.TryAgain},
		{unknown, usage.Usage},
		{denied, usage.Usage},
		{full, usage.Usage},
		{stale, usage.TryAgain},
		{usage.Later("another run is at work"), usage.TryAgain},
		{usage.All([]error{usage.Errorf("--a"), outage}), usage.Usage},
	} {
		for _, err := range []error{
			c.err, fmt.Errorf("list x: %w", c.err), usage.Renamed(usage.Errorf("--output: %v", c.err), "output", "destination"),
			usage.Reworded(usage.Errorf("--output: %v", c.err), "in line 4"), usage.All([]error{usage.Errorf("--output: %v", c.err)}),
		} {
			want := c.want
			if want == usage.Internal && err.Error() != "a bug" && err.Error() != "list x: a bug" {
				want = usage.Usage // an error without a nature takes the nature of its place
			}
			if got := usage.NatureOf(err); got != want {
				t.Errorf("%v: got the nature %d, expected %d", err, got, want)
			}
		}
	}
}

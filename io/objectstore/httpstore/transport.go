package httpstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// enough is the number of bytes after which a cut answer counts as a success; the next try
// continues after them. So a large range can be read even over a poor connection. A smaller number
// would allow endless tries with a store that cuts every answer.
const enough = 1 << 20

// Transport returns a round tripper for the clients of a store. A request fails if no byte is sent
// or received for the idle timeout. The transport counts the tries of the request's operation.
func Transport(o Options) http.RoundTripper {
	return &transport{base: connections(), options: o.WithDefaults()}
}

// connections returns a transport for many concurrent reads. It does not use HTTP/2, which
// would share one connection: after a connection died, the next try would use it again.
func connections() *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSHandshakeTimeout:   30 * time.Second,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		ReadBufferSize:        64 << 10,
		WriteBufferSize:       64 << 10,
		Protocols:             protocols,
	}
}

type transport struct {
	base    *http.Transport
	options Options
}

// CloseIdleConnections is called by http.Client.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	tries := triesOf(r.Context())
	if err := tries.exhausted(); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // it was not sent
		}
		return nil, err
	}
	resp, err := t.watched(r, tries)
	switch {
	case err != nil && r.Context().Err() != nil:
		return nil, err
	case err != nil:
		return nil, tries.fail(err)
	case !transientStatus(resp.StatusCode):
		return resp, nil
	}
	if err := tries.fail(&StatusError{Code: resp.StatusCode}); errors.As(err, new(*GaveUpError)) {
		_ = resp.Body.Close() // an error of the store: the code is enough
		return nil, err
	}
	return resp, nil
}

// watched sends a request under a watchdog, which also watches the body of the answer.
func (t *transport) watched(r *http.Request, tries *tries) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	dog := watch(t.options.IdleTimeout, cancel)
	resp, err := t.base.RoundTrip(dog.upload(r.WithContext(ctx)))
	dog.rest()
	if err != nil {
		err = dog.blame(err, "no answer")
		cancel(nil)
		return nil, err
	}
	if resp.Body == http.NoBody {
		cancel(nil)
		if !transientStatus(resp.StatusCode) {
			tries.succeed()
		}
		return resp, nil
	}
	resp.Body = &download{
		ReadCloser: resp.Body, dog: dog, cancel: cancel, request: r, tries: tries,
		answers: !transientStatus(resp.StatusCode),
	}
	return resp, nil
}

// transientStatus reports whether another try may have another status.
func transientStatus(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	default:
		return false
	}
}

// Busy reports whether the status of an answer asks for fewer requests.
func Busy(code int) bool {
	return code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable
}

// watchdog cancels a request without progress.
type watchdog struct {
	timer *time.Timer
	idle  time.Duration
	bit   atomic.Bool
}

func watch(idle time.Duration, cancel context.CancelCauseFunc) *watchdog {
	w := &watchdog{idle: idle}
	w.timer = time.AfterFunc(idle, func() {
		w.bit.Store(true)
		cancel(errIdle)
	})
	return w
}

// moved restarts the timer.
func (w *watchdog) moved() { w.timer.Reset(w.idle) }

// rest stops the timer until the next call of moved.
func (w *watchdog) rest() { w.timer.Stop() }

// blame replaces the error of a request canceled by the watchdog with an IdleError.
func (w *watchdog) blame(err error, what string) error {
	if w.bit.Load() {
		return &IdleError{What: what, Idle: w.idle}
	}
	return err
}

// upload makes the watchdog watch the bytes sent, also if the transport sends a request a
// second time because its connection was closed.
func (w *watchdog) upload(r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	r.Body = &upload{r.Body, w}
	if again := r.GetBody; again != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			return &upload{body, w}, err
		}
	}
	return r
}

type upload struct {
	io.ReadCloser
	dog *watchdog
}

// Read implements io.Reader.
func (u *upload) Read(p []byte) (int, error) {
	u.dog.moved()
	return u.ReadCloser.Read(p)
}

// download is the body of an answer. At its end it counts the try as a success or failure.
type download struct {
	io.ReadCloser
	dog     *watchdog
	cancel  context.CancelCauseFunc
	request *http.Request
	tries   *tries
	answers bool // the status of the answer is no failure
	read    int64
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	d.dog.moved()
	n, err := d.ReadCloser.Read(p)
	d.dog.rest()
	d.read += int64(n)
	switch {
	case !d.answers, err != nil && d.request.Context().Err() != nil:
		return n, err
	case err == io.EOF, err == nil && d.read >= enough: //nolint:errorlint // readers do not wrap io.EOF
		d.tries.succeed()
		return n, err
	case err != nil:
		err = d.dog.blame(err, fmt.Sprintf("no more than %d bytes of the answer", d.read))
		return n, d.tries.fail(err)
	default:
		return n, nil
	}
}

// Close implements io.Closer.
func (d *download) Close() error {
	d.dog.rest()
	err := d.ReadCloser.Close()
	d.cancel(nil)
	return err
}

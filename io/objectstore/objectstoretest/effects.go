package objectstoretest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Effect handles a request: it answers itself, or passes the request to the store. ended is
// closed at the end of the test.
type Effect func(w http.ResponseWriter, r *http.Request, store http.Handler, ended <-chan struct{})

// Latency delays the request.
func Latency(d time.Duration) Effect {
	return func(w http.ResponseWriter, r *http.Request, store http.Handler, ended <-chan struct{}) {
		pause(r, d, ended)
		store.ServeHTTP(w, r)
	}
}

// pause waits for d, or until the client or the test ends.
func pause(r *http.Request, d time.Duration, ended <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	case <-ended:
	}
}

// Status answers with an error instead of asking the store.
func Status(code int) Effect {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler, _ <-chan struct{}) {
		_, _ = io.Copy(io.Discard, r.Body) // the client reads the answer after it has sent the body
		body := fmt.Sprintf(`<Error><Code>%s</Code><Message>injected</Message></Error>`, s3Code(code))
		if isGoogle(r) {
			body = fmt.Sprintf(`{"error":{"code":%d,"message":"injected"}}`, code)
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(code)
		if r.Method != http.MethodHead {
			_, _ = io.WriteString(w, body) // the client may be gone
		}
	}
}

func s3Code(status int) string {
	switch status {
	case http.StatusForbidden:
		return "AccessDenied"
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return "SlowDown"
	case http.StatusPreconditionFailed:
		return "PreconditionFailed"
	default:
		return "InternalError"
	}
}

// Reset closes the connection without an answer, and without a request to the store.
func Reset() Effect {
	return func(http.ResponseWriter, *http.Request, http.Handler, <-chan struct{}) {
		panic(http.ErrAbortHandler)
	}
}

// LoseAnswer passes the request to the store, and closes the connection without an answer.
func LoseAnswer() Effect {
	return func(_ http.ResponseWriter, r *http.Request, store http.Handler, _ <-chan struct{}) {
		store.ServeHTTP(&discard{header: make(http.Header)}, r)
		panic(http.ErrAbortHandler)
	}
}

type discard struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d *discard) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *discard) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }

// Hang neither reads the request nor answers, until the client or the test
// ends.
func Hang() Effect {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler, ended <-chan struct{}) {
		select {
		case <-r.Context().Done():
		case <-ended:
		}
		panic(http.ErrAbortHandler)
	}
}

// CutBody closes the connection after the given number of bytes of a longer answer.
func CutBody(after int64) Effect {
	return endBody(after, func(*http.Request, <-chan struct{}) {})
}

// endBody closes the connection after the given number of bytes of the answer and a pause.
func endBody(after int64, pause func(r *http.Request, ended <-chan struct{})) Effect {
	return onBody(func(r *http.Request, ended <-chan struct{}) bodyEffect {
		left := after
		return bodyEffect{write: func(w http.ResponseWriter, p []byte) error {
			if int64(len(p)) <= left {
				left -= int64(len(p))
				_, err := w.Write(p)
				return err
			}
			_, err := w.Write(p[:left])
			if err = errors.Join(err, http.NewResponseController(w).Flush()); err == nil {
				pause(r, ended)
			}
			return errors.Join(errCut, err)
		}}
	})
}

// errCut makes the proxy close the connection.
var errCut = errors.New("cut")

// StallBody stops after the given number of bytes of the answer, until the client or the
// test ends.
func StallBody(after int64) Effect {
	return endBody(after, func(r *http.Request, ended <-chan struct{}) {
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	})
}

// SlowBody pauses before each of the given number of bytes of the answer.
func SlowBody(bytes int, every time.Duration) Effect {
	return onBody(func(r *http.Request, ended <-chan struct{}) bodyEffect {
		return bodyEffect{write: func(w http.ResponseWriter, p []byte) error {
			for len(p) > 0 {
				pause(r, every, ended)
				n := min(bytes, len(p))
				_, err := w.Write(p[:n])
				if err = errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
					return err
				}
				p = p[n:]
			}
			return nil
		}}
	})
}

// FlipByte inverts the byte at an offset of the answer.
func FlipByte(at int64) Effect {
	return onBody(func(*http.Request, <-chan struct{}) bodyEffect {
		var off int64
		return bodyEffect{write: func(w http.ResponseWriter, p []byte) error {
			if i := at - off; i >= 0 && i < int64(len(p)) {
				p[i] ^= 0xff
			}
			off += int64(len(p))
			_, err := w.Write(p)
			return err
		}}
	})
}

// ShortBody leaves out the last bytes of the answer, and announces the shorter length.
func ShortBody(by int64) Effect { return resize(-by) }

// LongBody appends bytes to the answer, and announces the longer length.
func LongBody(by int64) Effect { return resize(by) }

func resize(by int64) Effect {
	return onBody(func(*http.Request, <-chan struct{}) bodyEffect {
		left := int64(-1)
		return bodyEffect{
			header: func(h http.Header) {
				length, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
				if err != nil {
					return // the length of the answer is unknown
				}
				left = max(0, length+by)
				h.Set("Content-Length", strconv.FormatInt(left, 10))
			},
			write: func(w http.ResponseWriter, p []byte) error {
				if left >= 0 {
					p = p[:min(int64(len(p)), left)]
					left -= int64(len(p))
				}
				_, err := w.Write(p)
				return err
			},
			end: func(w http.ResponseWriter) {
				if by > 0 && left > 0 {
					_, _ = w.Write(make([]byte, left)) // the client may be gone
				}
			},
		}
	})
}

// bodyEffect changes an answer on its way to the client.
type bodyEffect struct {
	header func(http.Header) // may be nil
	write  func(w http.ResponseWriter, p []byte) error
	end    func(http.ResponseWriter) // may be nil
}

func onBody(begin func(r *http.Request, ended <-chan struct{}) bodyEffect) Effect {
	return func(w http.ResponseWriter, r *http.Request, store http.Handler, ended <-chan struct{}) {
		effect := begin(r, ended)
		changed := &changedBody{ResponseWriter: w, effect: effect}
		store.ServeHTTP(changed, r)
		if effect.end != nil && changed.ok {
			effect.end(w)
		}
	}
}

// changedBody applies an effect to successful answers.
type changedBody struct {
	http.ResponseWriter
	effect bodyEffect
	ok     bool
}

// Unwrap lets an http.ResponseController find Flush.
func (c *changedBody) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (c *changedBody) WriteHeader(status int) {
	c.ok = status < 300
	if c.ok && c.effect.header != nil {
		c.effect.header(c.Header())
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *changedBody) Write(p []byte) (int, error) {
	if !c.ok {
		return c.ResponseWriter.Write(p)
	}
	if err := c.effect.write(c.ResponseWriter, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

package httpstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/io/usage"
)

var errIdle = errors.New("idle")

// IdleError is the error of a connection that was silent for too long.
type IdleError struct {
	What string
	Idle time.Duration
}

// Error implements error.
func (e *IdleError) Error() string { return fmt.Sprintf("%s for %s", e.What, e.Idle) }

// Timeout implements net.Error.
func (e *IdleError) Timeout() bool { return true }

// Temporary implements net.Error.
func (e *IdleError) Temporary() bool { return true }

// StatusError is an answer with a status other than success.
type StatusError struct{ Code int }

// Error implements error.
func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the store answered %d %s", e.Code, http.StatusText(e.Code)))
}

// LengthError is the error if a store sent a different number of bytes than requested.
type LengthError struct {
	Off, Want, Got int64
	More           bool // the store sent more than Got
}

// Error implements error.
func (e *LengthError) Error() string {
	got := strconv.FormatInt(e.Got, 10)
	if e.More {
		got = "more"
	}
	return fmt.Sprintf("expected %d bytes at offset %d, got %s", e.Want, e.Off, got)
}

// Error is an error in a single sentence, with a kind for errors.Is.
type Error struct {
	Text  string
	Kind  error
	Again bool // whether the cause goes away without a person, so that a later attempt may succeed
}

// Failed returns the reason of a failed operation as an Error.
func Failed(err error) *Error { return &Error{Text: Reason(err), Again: Passes(err)} }

// Passes reports whether the cause of an error goes away without a person, after however many tries.
func Passes(err error) bool {
	for gaveUp := (*GaveUpError)(nil); errors.As(err, &gaveUp); {
		err = gaveUp.Err
	}
	var status *StatusError
	return Transient(err) || errors.Is(err, io.EOF) || // the transport does not wrap the end of a connection
		errors.As(err, &status) && transientStatus(status.Code)
}

// Nature implements usage.Natured.
func (e *Error) Nature() usage.Nature {
	if e.Again {
		return usage.TryAgain
	}
	return usage.Usage
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Transient reports whether another try may succeed.
func Transient(err error) bool {
	var network net.Error
	switch {
	case err == nil, errors.As(err, new(*GaveUpError)), errors.Is(err, context.Canceled):
		return false
	case errors.As(err, new(*IdleError)), errors.As(err, new(*LengthError)),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return true
	case errors.As(err, new(*net.DNSError)):
		return temporaryDNS(err)
	case errors.As(err, &network) && network.Timeout():
		return !errors.Is(err, context.DeadlineExceeded)
	default:
		return reset(err)
	}
}

func temporaryDNS(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && !dns.IsNotFound
}

// reset reports whether a connection was refused or ended without an answer.
func reset(err error) bool {
	broken := []error{syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE}
	// A connection that ends before an answer gives a bare io.EOF, wrapped only by the
	// client.
	return slices.ContainsFunc(broken, func(e error) bool { return errors.Is(err, e) }) ||
		errors.As(err, new(*url.Error)) && errors.Is(err, io.EOF)
}

// maxReason is the greatest length of a foreign message that is shown, in bytes.
const maxReason = 300

// Reason returns the cause of an error in one line, without the URL of the request and
// without the SDK's wrapping.
func Reason(err error) string {
	if gaveUp := (*GaveUpError)(nil); errors.As(err, &gaveUp) {
		return gaveUp.Error()
	}
	for urlErr := (*url.Error)(nil); errors.As(err, &urlErr); {
		err = urlErr.Err
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer was cut short"
	case err == io.EOF: //nolint:errorlint // the bare error has no meaning for users
		return "the store closed the connection without an answer"
	default:
		return OneLine(err.Error())
	}
}

// OneLine returns the first line of a foreign message, shortened.
func OneLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = strings.TrimSpace(s)
	if len(s) <= maxReason {
		return s
	}
	end := maxReason
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

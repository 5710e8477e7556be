package gcsstore

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/httptransport"
	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/option"

	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

func newClient(ctx context.Context, o httpstore.Options) (*storage.Client, error) {
	ctx = context.WithoutCancel(ctx) // the client outlives the first operation
	hc := &http.Client{Transport: rawMedia{httpstore.Transport(o)}}
	options := []option.ClientOption{
		option.WithHTTPClient(hc), storage.WithJSONReads(),
		storage.WithDisabledClientMetrics(),
	}
	if os.Getenv("STORAGE_EMULATOR_HOST") == "" {
		creds, err := detect(o)
		if err != nil {
			return nil, err
		}
		if err := httptransport.AddAuthorizationMiddleware(hc, creds); err != nil {
			return nil, noCredentials(err)
		}
		options = append(options, option.WithAuthCredentials(creds)) // spares a second search for credentials
	}
	client, err := storage.NewClient(ctx, options...)
	if err != nil {
		return nil, &httpstore.Error{Text: "cannot set up the client of Cloud Storage: " + httpstore.Reason(err)}
	}
	client.SetRetry(
		storage.WithPolicy(storage.RetryAlways), // safe: a repeated write recognises its own object
		storage.WithMaxAttempts(o.BusyAttempts),
		storage.WithBackoff(gax.Backoff{Initial: o.Backoff, Max: o.MaxBackoff, Multiplier: 2}),
		storage.WithErrorFunc(shouldRetry),
	)
	return client, nil
}

// shouldRetry is the SDK's rule, with other rules for errors of the transport.
func shouldRetry(err error) bool {
	if err == nil || errors.As(err, new(*httpstore.GaveUpError)) || errors.As(err, new(*tokenError)) {
		return false // the source of tokens has retried already
	}
	return httpstore.Transient(err) || storage.ShouldRetry(err)
}

// detect finds the credentials. It does not wrap the SDK's errors: a missing file of
// credentials must not look like a missing object.
func detect(o httpstore.Options) (*auth.Credentials, error) {
	creds, err := credentials.DetectDefault(&credentials.DetectOptions{
		Scopes: []string{storage.ScopeReadWrite},
		Client: &http.Client{Transport: httpstore.Transport(o)},
	})
	if err != nil {
		return nil, noCredentials(err)
	}
	creds.TokenProvider = tokens{creds.TokenProvider}
	return creds, nil
}

// tokens gives the errors of a source of tokens a type.
type tokens struct{ auth.TokenProvider }

// Token implements auth.TokenProvider.
func (t tokens) Token(ctx context.Context) (*auth.Token, error) {
	token, err := t.TokenProvider.Token(ctx)
	if err != nil {
		return nil, &tokenError{err}
	}
	return token, nil
}

// tokenError is the error of a request that was not sent, as there was no token.
type tokenError struct{ err error }

// Error implements error.
func (e *tokenError) Error() string { return e.err.Error() }

func noCredentials(err error) error {
	text := "no Google Cloud credentials: run `gcloud auth application-default login` " +
		"or set GOOGLE_APPLICATION_CREDENTIALS to the path of a key file"
	if os.Getenv("GOOGLE_APPLICATION_CREDENTIALS") != "" {
		text = "no Google Cloud credentials: GOOGLE_APPLICATION_CREDENTIALS is set, but " + httpstore.Reason(err)
	}
	return &httpstore.Error{Text: text}
}

// rawMedia asks for objects as they are stored. Without its header the service would
// decompress objects marked as gzip, and return wrong ranges. The SDK refuses the header
// in reads by the JSON API.
type rawMedia struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t rawMedia) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && strings.Contains(r.URL.RawQuery, "alt=media") {
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Encoding", "gzip")
	}
	return t.RoundTripper.RoundTrip(r)
}

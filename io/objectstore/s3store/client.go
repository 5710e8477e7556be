package s3store

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

const defaultRegion = "us-east-1"

func newClient(ctx context.Context, o httpstore.Options) (*s3.Client, error) {
	c, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, &httpstore.Error{Text: "cannot read the configuration of AWS: " + httpstore.Reason(err)}
	}
	// A lack of credentials is found here, before the SDK wraps it in the failure of a
	// request.
	if _, err := c.Credentials.Retrieve(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, noCredentials(err)
	}
	return s3.NewFromConfig(c, func(so *s3.Options) { configure(so, o) }), nil
}

func configure(so *s3.Options, o httpstore.Options) {
	so.UsePathStyle = so.BaseEndpoint != nil // other stores have no host per bucket
	if so.Region == "" {
		so.Region = defaultRegion
	}
	so.Retryer = retryer(o)
	// All reads request ranges, and the store has no checksums of ranges. On request, some other
	// stores send the checksum of the whole object.
	so.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	so.HTTPClient = &http.Client{
		Transport: httpstore.Transport(o),
		// A signed request is invalid at another host. The answer names the region.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func noCredentials(err error) error {
	e := &httpstore.Error{Text: "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, " +
		"or run `aws sso login`"}
	// The error of the machine's role, the last source of credentials, does not help.
	if !strings.Contains(err.Error(), "no EC2 IMDS role found") {
		e.Text += " (" + httpstore.Reason(err) + ")"
		e.Again = httpstore.Passes(err)
	}
	return e
}

// retryer returns the SDK's retryer with the numbers of the options. It has no limit on the
// retries of all requests together, which would end many reads in a short outage.
func retryer(o httpstore.Options) aws.Retryer {
	return retry.NewStandard(func(ro *retry.StandardOptions) {
		ro.MaxAttempts = o.BusyAttempts
		ro.RateLimiter = ratelimit.None
		ro.Backoff = retry.BackoffDelayerFunc(func(attempt int, err error) (time.Duration, error) {
			if attempt >= o.Attempts && !httpstore.Busy(statusOf(err)) {
				return 0, err // such as a conflict, which is a success for the transport
			}
			return o.Pause(attempt), nil
		})
		ro.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(shouldRetry)}, ro.Retryables...)
	})
}

// shouldRetry comes before the SDK's rules.
func shouldRetry(err error) aws.Ternary {
	switch {
	case errors.As(err, new(*httpstore.GaveUpError)):
		return aws.FalseTernary
	case httpstore.Transient(err), hasStatus(err, http.StatusTooManyRequests),
		hasStatus(err, http.StatusRequestTimeout):
		return aws.TrueTernary
	default:
		return aws.UnknownTernary
	}
}

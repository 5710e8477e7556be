package s3store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

// explain turns an error into a single sentence with a kind. right is the permission that the
// request needs.
func (p place) explain(ctx context.Context, right string, err error) error {
	status := statusOf(err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*httpstore.GaveUpError)):
		return httpstore.Failed(err)
	case errors.As(err, new(*httpstore.Error)):
		return err
	case status != 0:
		err = p.withBody(ctx, status, err)
		return p.explainAnswer(ctx, right, statusOf(err), err)
	default:
		return other(err)
	}
}

func (p place) explainAnswer(ctx context.Context, right string, status int, err error) error {
	region := regionOf(err)
	switch {
	case region != "" && (status == 301 || status == 307 || status == 400):
		return &httpstore.Error{Text: fmt.Sprintf("bucket %s is in region %s: set AWS_REGION=%[2]s", p.bucket, region)}
	case status == http.StatusMovedPermanently, status == http.StatusTemporaryRedirect:
		return &httpstore.Error{Text: fmt.Sprintf("bucket %s is in another region: set AWS_REGION to that", p.bucket)}
	case codeOf(err) == "NoSuchBucket":
		return p.noBucket()
	case status == http.StatusNotFound:
		return p.absent(ctx, err)
	case status == http.StatusPreconditionFailed:
		return fs.ErrExist
	case codeOf(err) == conflict:
		return &httpstore.Error{Text: "another write of it is under way", Kind: fs.ErrExist, Again: true}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, isRefusal(codeOf(err)):
		return p.refused(right, err)
	case status/100 == 2:
		return &httpstore.Error{Text: "the store's answer cannot be read" + said(err), Again: true}
	default:
		answer := &httpstore.StatusError{Code: status}
		return &httpstore.Error{Text: answer.Error() + said(err), Again: httpstore.Passes(answer)}
	}
}

// other explains errors other than answers of the store.
func other(err error) error {
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	if strings.Contains(err.Error(), "get credentials") {
		return noCredentials(err)
	}
	return httpstore.Failed(err)
}

// refused distinguishes a missing permission from wrong or expired credentials and a wrong clock.
func (p place) refused(right string, err error) error {
	code := codeOf(err)
	e := &httpstore.Error{Kind: fs.ErrPermission, Text: fmt.Sprintf("permission denied: it needs %s on bucket %s", right, p.bucket)}
	if isRefusal(code) {
		e.Text = refusals[code] + " (" + code + ")" + remedies[refusals[code]]
	}
	return e
}

// The causes for which a store refuses a signed request.
const (
	wrongKeys = "the AWS credentials were refused"
	expired   = "the AWS credentials have expired"
	wrongTime = "the clock of this machine differs too much from the clock of the store"
)

// refusals has the causes by the store's code. Stores answer 400 or 403 with the same code.
//
//nolint:gochecknoglobals // a constant
var refusals = map[string]string{
	"InvalidAccessKeyId": wrongKeys, "SignatureDoesNotMatch": wrongKeys, "InvalidToken": wrongKeys,
	"ExpiredToken": expired, "TokenRefreshRequired": expired, "ExpiredTokenException": expired,
	"RequestTimeTooSkewed": wrongTime, "RequestExpired": wrongTime,
}

//nolint:gochecknoglobals // a constant
var remedies = map[string]string{
	wrongKeys: ": check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run `aws sso login`",
	expired:   ": set new AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or run `aws sso login`",
	wrongTime: ": set the clock",
}

func isRefusal(code string) bool { return refusals[code] != "" }

// withBody returns the error of a request that the store refuses with a body. The answer to a HEAD has no body, so
// the store is asked for a list, which it refuses for the same cause if the cause is the credentials or the clock.
func (p place) withBody(ctx context.Context, status int, err error) error {
	bare := map[string]bool{"": true, "BadRequest": true, "Forbidden": true}
	if !bare[codeOf(err)] || status != http.StatusBadRequest && status != http.StatusForbidden {
		return err
	}
	_, asked := p.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String(p.bucket), MaxKeys: aws.Int32(1)})
	if isRefusal(codeOf(asked)) {
		return asked
	}
	return err
}

func statusOf(err error) int {
	var answer *smithyhttp.ResponseError
	if !errors.As(err, &answer) || answer.Response == nil {
		return 0
	}
	return answer.HTTPStatusCode()
}

func hasStatus(err error, status int) bool { return statusOf(err) == status }

func codeOf(err error) string {
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return ""
	}
	return answer.ErrorCode()
}

// conflict is the code of a write refused because of a concurrent one.
const conflict = "ConditionalRequestConflict"

// regionOf returns the region of the bucket from the answer to a request in another region.
func regionOf(err error) string {
	var answer *smithyhttp.ResponseError
	if !errors.As(err, &answer) || answer.Response == nil {
		return ""
	}
	return answer.Response.Header.Get("X-Amz-Bucket-Region")
}

// said returns the store's message, in addition to the status.
func said(err error) string {
	var answer smithy.APIError
	if !errors.As(err, &answer) || answer.ErrorMessage() == "" {
		return ""
	}
	return " (" + strings.TrimSuffix(httpstore.OneLine(answer.ErrorMessage()), ".") + ")"
}

func (p place) noBucket() error {
	return &httpstore.Error{Text: "there is no bucket " + p.bucket, Kind: fs.ErrNotExist}
}

// absent distinguishes a missing object from a missing bucket, which an answer without a body does
// not.
func (p place) absent(ctx context.Context, err error) error {
	if codeOf(err) == "NoSuchKey" {
		return fs.ErrNotExist
	}
	if _, known := p.driver.buckets.Load(p.bucket); known {
		return fs.ErrNotExist
	}
	_, err = p.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String(p.bucket)})
	if hasStatus(err, http.StatusNotFound) && p.listsNone(ctx) {
		return p.noBucket()
	}
	if err == nil {
		p.driver.buckets.Store(p.bucket, true)
	}
	return fs.ErrNotExist
}

// listsNone reports whether the answer to a listing shows that the bucket is missing. Some servers
// answer 404 to a HEAD of any bucket, and the answer to a HEAD has no body.
func (p place) listsNone(ctx context.Context) bool {
	_, err := p.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String(p.bucket), MaxKeys: aws.Int32(1)})
	return codeOf(err) == "NoSuchBucket" || codeOf(err) == "" && hasStatus(err, http.StatusNotFound)
}

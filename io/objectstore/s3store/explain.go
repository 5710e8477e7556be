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
		return &httpstore.Error{Text: httpstore.Reason(err)}
	case errors.As(err, new(*httpstore.Error)):
		return err
	case status != 0:
		return p.explainAnswer(ctx, right, status, err)
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
		return &httpstore.Error{Text: "another write of it is under way", Kind: fs.ErrExist}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return p.refused(right, err)
	default:
		return &httpstore.Error{Text: (&httpstore.StatusError{Code: status}).Error() + said(err)}
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
	return &httpstore.Error{Text: httpstore.Reason(err)}
}

// refused distinguishes a missing permission from wrong credentials.
func (p place) refused(right string, err error) error {
	e := &httpstore.Error{Kind: fs.ErrPermission}
	switch code := codeOf(err); code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired",
		"RequestTimeTooSkewed":
		e.Text = fmt.Sprintf("the AWS credentials were refused (%s): check "+
			"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "+
			"or AWS_PROFILE, or run `aws sso login`", code)
	default:
		e.Text = fmt.Sprintf("permission denied: it needs %s on bucket %s", right, p.bucket)
	}
	return e
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

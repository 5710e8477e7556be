// Package s3store is the driver of s3:// URLs: Amazon S3, and stores that speak
// its protocol.
//
// # Access
//
// The first use of a driver looks for credentials and a region where other
// tools for AWS do: in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in the
// profile that AWS_PROFILE names, in the role of the machine or container, and
// in AWS_REGION. With AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL set, requests go
// there, with the bucket in the path. Without a region, it is us-east-1. Until
// the first use nothing is read or sent.
//
// Reading needs the rights s3:GetObject and s3:ListBucket, writing s3:PutObject
// (for objects beyond 8 MiB also s3:AbortMultipartUpload), removing
// s3:DeleteObject.
//
// # Generations
//
// A generation is an ETag. That is a digest of the content, thus two writes of
// the same content have the same generation. An object that was replaced gives
// objectstore.ErrChanged on the next read.
//
// # Writes
//
// Up to 8 MiB are kept in memory and sent in one request, more is sent as a
// multipart upload, several parts at a time; nothing is visible before it is
// completed. A write whose answer was lost is sent again, and its own object
// then breaks the condition it is bound to: each write stores a random text as
// metadata, by which it knows its object. If the tries end without an answer,
// the object is looked at once more. When that fails too, Commit returns the
// error although the object may be there. So it does when another writer has
// replaced the object before it was looked at.
//
// A store that speaks the protocol but does not know conditions on writes lets
// the last of several writers win, and none of them learns of it.
package s3store

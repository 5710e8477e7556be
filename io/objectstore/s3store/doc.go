// Package s3store is the driver of s3:// URLs: Amazon S3, and stores with its protocol.
//
// # Access
//
// The first use of a driver looks for credentials and a region in the usual places of AWS
// tools: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile named by AWS_PROFILE,
// the role of the machine or container, and AWS_REGION. The default region is us-east-1.
// If AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is set, requests go there, with the bucket in
// the path. Before its first use a driver reads and sends nothing.
//
// Reading needs the rights s3:GetObject and s3:ListBucket, writing s3:PutObject
// (for objects beyond 8 MiB also s3:AbortMultipartUpload), removing
// s3:DeleteObject.
//
// # Generations
//
// A generation is an ETag. An ETag is a digest of the content, so two writes of the same
// content have the same generation. After an object is replaced by another content, the
// next read returns objectstore.ErrChanged.
//
// # Writes
//
// An object of up to 8 MiB is kept in memory and sent in one request. A larger one is sent
// as a multipart upload, several parts at a time, and becomes visible at its completion. A
// write whose answer was lost is sent again. The second try then fails on its condition,
// because the first try has made the object. So each write stores a random text as
// metadata, and recognises its own object by it. If no try is answered, Commit looks at
// the object once more. Commit returns an error although the object exists in two cases:
// this look fails, or another writer replaced the object before it.
//
// Some stores with the protocol ignore conditions on writes. There the last of several
// writers wins, and none of them gets an error.
package s3store

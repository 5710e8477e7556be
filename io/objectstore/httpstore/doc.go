// Package httpstore has the common parts of drivers for object stores over HTTP: limits on
// the tries of a request, a transport that gives up on a silent store, readers of byte
// ranges, and errors of one sentence.
//
// # Tries
//
// The SDKs of the stores decide on retries. Not all of their retries are limited, and the limits
// have different units. So the transport counts consecutive failed tries of each operation; the
// request's context names the operation (see Begin). After the last try it turns an answer such as
// 503 into an error that no SDK retries. A try succeeds if its answer was read to the end, or if it
// delivered enough bytes that the next try continues after them.
package httpstore

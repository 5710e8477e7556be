// Package httpstore holds what drivers of object stores over HTTP share: how
// often and how long a request is tried, a transport that gives up on a store
// that says nothing, readers of byte ranges, and errors of one sentence.
//
// # Tries
//
// The SDKs of the stores decide what is sent again and how; they do not bound
// all of it, or in units that differ. The transport therefore counts the tries
// that failed in a row for the operation whose context it finds in a request
// (see Begin), and after the last turns an answer such as 503 into an error
// that no SDK retries. A try succeeds when its answer was read to the end, or
// when it brought so much that the next begins from there.
package httpstore

// Package httpstore has the common parts of drivers for object stores over HTTP: limits on
// the tries of a request, a transport that gives up on a silent store, readers of byte
// ranges, and errors of one sentence.
//
// # Tries
//
// The SDKs of the stores decide on retries. Not all of their retries have a limit, and the
// limits have different units. So the transport counts the failed tries in a row of each
// operation; the request's context names the operation (see Begin). After the last try it
// turns an answer such as 503 into an error that no SDK retries. A try succeeds if its
// answer was read to the end, or if it brought so many bytes that the next try continues
// behind them.
package httpstore

// Package conformance runs the transforms for other people's pipelines on a stream of
// events from a broker, and compares the results with the results of batches of the
// same events. It can test any runner that supports streams. The broker is a small one in
// memory, or the NATS server of the module natstest. It is not meant for other programs.
package conformance

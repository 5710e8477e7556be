// Package transformstest runs the transforms for other people's pipelines on a
// stream of events from a broker, and checks what comes out of them against
// batches of the same events. Runners that know streams can be held to it.
package transformstest

// The streams of package conformance, from a NATS server. They are a module of their own to keep the
// server out of the module graph of those who use Espalier.

package natstest_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

// The stream and its subject at the broker.
const (
	streamName = "EVENTS"
	subject    = "events"
)

// broker is a NATS server in this process, on the loopback interface.
type broker struct {
	url string
	js  jetstream.JetStream
}

// start starts a NATS server that ends with the test.
func start(tb testing.TB) conformance.Broker {
	tb.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: tb.TempDir(), NoSigs: true, NoLog: true,
	})
	if err != nil {
		tb.Fatal(err)
	}
	srv.Start()
	tb.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	if !srv.ReadyForConnections(10 * time.Second) {
		tb.Fatal("the broker is not ready")
	}
	conn, err := nats.Connect(srv.ClientURL())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(4096))
	if err != nil {
		tb.Fatal(err)
	}
	_, err = js.CreateStream(tb.Context(), jetstream.StreamConfig{
		Name: streamName, Subjects: []string{subject}, Storage: jetstream.MemoryStorage,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return &broker{srv.ClientURL(), js}
}

// Publish implements conformance.Broker. It returns when the server has stored the messages.
func (b *broker) Publish(tb testing.TB, messages []json.RawMessage) {
	tb.Helper()
	for _, payload := range messages {
		if _, err := b.js.PublishAsync(subject, payload, jetstream.WithStallWait(time.Minute)); err != nil {
			tb.Fatal(err)
		}
	}
	select {
	case <-b.js.PublishAsyncComplete():
	case <-time.After(time.Minute):
		tb.Fatal("the broker does not take the messages")
	}
}

// subscription reads the messages of a broker in their order.
type subscription struct {
	conn *nats.Conn
	cons jetstream.Consumer
	next int64 // number of the consumer's next message
}

// Subscribe implements conformance.Broker.
func (b *broker) Subscribe() (conformance.Subscription, error) {
	conn, err := nats.Connect(b.url)
	if err != nil {
		return nil, err
	}
	return &subscription{conn: conn}, nil
}

// Close implements conformance.Subscription.
func (s *subscription) Close() { s.conn.Close() }

// consume makes the consumer continue with the message of a number.
func (s *subscription) consume(ctx context.Context, number int64) error {
	if s.cons != nil && s.next == number {
		return nil
	}
	js, err := jetstream.New(s.conn)
	if err != nil {
		return err
	}
	s.next = number
	s.cons, err = js.OrderedConsumer(ctx, streamName, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: uint64(number),
	})
	return err
}

// Fetch implements conformance.Subscription.
func (s *subscription) Fetch(ctx context.Context, from int64, n int, wait time.Duration) ([]json.RawMessage, error) {
	if err := s.consume(ctx, from); err != nil {
		return nil, err
	}
	messages, err := s.cons.Fetch(n, jetstream.FetchMaxWait(wait))
	if err != nil {
		return nil, err
	}
	var batch []json.RawMessage
	for m := range messages.Messages() {
		s.next++
		batch = append(batch, m.Data())
	}
	return batch, messages.Error()
}

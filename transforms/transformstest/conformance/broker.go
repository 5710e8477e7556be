package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Broker stores the messages of a stream, numbered 1, 2, and so on.
type Broker interface {
	// Publish adds messages.
	Publish(tb testing.TB, messages []json.RawMessage)
	// Subscribe returns a reader of the messages.
	Subscribe() (Subscription, error)
}

// Subscription reads the messages of a broker.
type Subscription interface {
	// Fetch returns at most n messages, starting at number from. It returns no message if none has
	// come within wait.
	Fetch(ctx context.Context, from int64, n int, wait time.Duration) ([]json.RawMessage, error)
	// Close ends the connection.
	Close()
}

// broker keeps messages in memory and serves them by HTTP on the loopback interface.
type broker struct {
	url string

	mu    sync.Mutex
	list  []json.RawMessage
	added chan struct{} // closed when there are more messages
}

// startBroker starts a broker that ends with the test.
func startBroker(tb testing.TB) *broker {
	tb.Helper()
	b := &broker{added: make(chan struct{})}
	server := httptest.NewServer(b)
	tb.Cleanup(server.Close)
	b.url = server.URL
	return b
}

// Publish implements Broker.
func (b *broker) Publish(_ testing.TB, messages []json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, messages...)
	close(b.added)
	b.added = make(chan struct{})
}

// after returns at most n messages, starting at number from, and a channel that is closed when
// there are more.
func (b *broker) after(from, n int) ([]json.RawMessage, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from = min(max(from-1, 0), len(b.list))
	return slices.Clone(b.list[from:min(from+max(n, 0), len(b.list))]), b.added
}

// ServeHTTP answers with at most n messages, starting at number from. If none has come yet, it
// waits for a message, at most as long as the request allows.
func (b *broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from, badFrom := strconv.Atoi(r.FormValue("from"))
	n, badN := strconv.Atoi(r.FormValue("n"))
	wait, badWait := time.ParseDuration(r.FormValue("wait"))
	if badFrom != nil || badN != nil || badWait != nil {
		http.Error(w, "want from, n and wait", http.StatusBadRequest)
		return
	}
	batch, added := b.after(from, n)
	if len(batch) == 0 {
		select {
		case <-added:
			batch, _ = b.after(from, n)
		case <-time.After(wait):
		case <-r.Context().Done():
		}
	}
	_ = json.NewEncoder(w).Encode(batch) // the reader sees what is missing
}

// subscription reads the messages of a broker.
type subscription struct {
	url    string
	client http.Client
}

// Subscribe implements Broker.
func (b *broker) Subscribe() (Subscription, error) { return &subscription{url: b.url}, nil }

// Close implements Subscription.
func (s *subscription) Close() { s.client.CloseIdleConnections() }

// Fetch implements Subscription.
func (s *subscription) Fetch(ctx context.Context, from int64, n int, wait time.Duration) ([]json.RawMessage, error) {
	query := url.Values{"from": {strconv.FormatInt(from, 10)}, "n": {strconv.Itoa(n)}, "wait": {wait.String()}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	var batch []json.RawMessage
	if answer.StatusCode == http.StatusOK {
		err = json.NewDecoder(answer.Body).Decode(&batch)
	} else {
		err = fmt.Errorf("broker: %s", answer.Status)
	}
	return batch, errors.Join(err, answer.Body.Close())
}

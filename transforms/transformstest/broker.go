//go:build !nats

package transformstest

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

// broker keeps messages in memory and serves them by HTTP on the loopback interface.
// With the build tag nats a NATS server takes its place. The default is this broker, as
// the NATS server takes half a minute to compile.
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

// publish adds messages.
func (b *broker) publish(tb testing.TB, list []message) {
	tb.Helper()
	var payloads []json.RawMessage
	for i := range list {
		payload, err := json.Marshal(&list[i])
		if err != nil {
			tb.Fatal(err)
		}
		payloads = append(payloads, payload)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, payloads...)
	close(b.added)
	b.added = make(chan struct{})
}

// after returns at most n messages from a number on, and the channel that is closed
// when there are more.
func (b *broker) after(from, n int) ([]json.RawMessage, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from = min(max(from-1, 0), len(b.list))
	return slices.Clone(b.list[from:min(from+max(n, 0), len(b.list))]), b.added
}

// ServeHTTP answers with at most n messages from a number on. If there is none, the
// answer waits for one, at most as long as the request says.
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

func subscribe(address string) (*subscription, error) { return &subscription{url: address}, nil }

func (s *subscription) close() { s.client.CloseIdleConnections() }

// fetch returns at most n messages from a number on, or none if none has come
// within the wait.
func (s *subscription) fetch(ctx context.Context, from int64, n int, wait time.Duration) ([]json.RawMessage, error) {
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

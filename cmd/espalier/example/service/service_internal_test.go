package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// writeModel writes a run folder whose tree asks whether the age is at least a cut.
func writeModel(t *testing.T, folder string, cut float64) (id string) {
	t.Helper()
	leaf := func(class int) tree.Node {
		n := tree.Node{
			Rows: 1, Objects: 1, Weight: 1, ClassWeights: []int64{0, 0}, RawClassWeights: []int64{0, 0}, Class: class,
			Probabilities: []float64{0, 0},
		}
		n.ClassWeights[class], n.RawClassWeights[class], n.Probabilities[class] = 1, 1, 1
		return n
	}
	root := leaf(0)
	root.Test = &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}, Cost: 1}
	root.Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2, Missing: true}}
	model := tree.Tree{
		Label:    tree.Label{Column: "class", Classes: []string{"well", "ill"}},
		Features: []dataset.Feature{{Name: "age", Kind: dataset.Numeric, Cuts: []float64{cut}, Cost: 1}},
		Nodes:    []tree.Node{root, leaf(1), leaf(0)},
	}
	schema := tree.Schema{
		Label: model.Label, Columns: []tree.SchemaColumn{
			{Name: "age", Role: "feature", Feature: &model.Features[0]}, {Name: "name", Role: "ignored"}, {Name: "class", Role: "label"},
		},
	}
	encoded := model.Encode()
	for name, b := range map[string][]byte{"schema.json": schema.Encode(), "tree.json": encoded} {
		at := filepath.Join(folder, name)
		if err := os.WriteFile(at+".new", b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+".new", at); err != nil {
			t.Fatal(err)
		}
	}
	return tree.ID(encoded)
}

// serve starts the service on a free port, and returns the URL of its scores. The service
// ends with the test, without an error.
func serve(t *testing.T, folder string) (url string) {
	t.Helper()
	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- run(ctx, folder, address, time.Millisecond) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	url = "http://" + address + "/score"
	for range 500 {
		if answer, err := http.Get(url); err == nil {
			_ = answer.Body.Close()
			return url
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the service does not answer")
	return ""
}

// TestUnusedConnection: a service ends without an error though a client holds a connection on which it has sent nothing.
func TestUnusedConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	opened, ended := make(chan struct{}), make(chan error)
	server := newServer(nil)
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			close(opened)
		}
	}
	go func() { ended <- server.Serve(listener) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() //nolint:errcheck // nothing was written
	<-opened
	if err := end(t.Context(), server, time.Millisecond); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the client's connection: %v, want its end", err)
	}
}

// post sends a body and returns the status and the answer.
func post(url string, body []byte) (status int, answer []byte, err error) {
	r, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer r.Body.Close() //nolint:errcheck // only read
	answer, err = io.ReadAll(r.Body)
	return r.StatusCode, answer, err
}

// TestRequestsUnderReload: 10,000 requests from 8 clients, while the model is replaced again
// and again and is broken in between: each answer is right for the model that it names.
func TestRequestsUnderReload(t *testing.T) {
	folder := t.TempDir()
	cuts := map[string]float64{writeModel(t, folder, 40): 40}
	other := t.TempDir()
	cuts[writeModel(t, other, 60)] = 60
	url := serve(t, folder)
	done := make(chan struct{})
	var replacing sync.WaitGroup
	replacing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
			if i%3 == 2 {
				_ = os.WriteFile(filepath.Join(folder, "tree.json"), []byte("{"), 0o600) // no tree
				continue
			}
			writeModel(t, folder, float64(40+20*(i%3)))
		}
	})
	const requests, clients = 10_000, 8
	var asking sync.WaitGroup
	seen := make([]map[string]int, clients)
	for client := range clients {
		seen[client] = make(map[string]int)
		asking.Go(func() {
			for i := range requests / clients {
				age := (client + 7*i) % 100
				status, answer, err := post(url, fmt.Appendf(nil, `{"age": %d, "name": "row %d", "class": null}`, age, i))
				var got scored
				if err == nil {
					err = json.Unmarshal(answer, &got)
				}
				want := "well"
				if float64(age) >= cuts[got.Model] {
					want = "ill"
				}
				if err != nil || status != http.StatusOK || got.Class != want || got.Probabilities[want] != 1 || cuts[got.Model] == 0 {
					t.Errorf("age %d: status %d, %s, error %v; want %s by one of %v", age, status, answer, err, want, cuts)
					return
				}
				seen[client][got.Model]++
			}
		})
	}
	asking.Wait()
	close(done)
	replacing.Wait()
	total := make(map[string]int)
	for _, counts := range seen {
		for model, n := range counts {
			total[model] += n
		}
	}
	if len(total) != 2 {
		t.Errorf("rows by model: %v, want both models", total)
	}
}

// badBody damages a row in one of ten ways.
func badBody(r *rand.Rand) []byte {
	good := fmt.Appendf(nil, `{"age": %d, "name": "Ada"}`, r.IntN(100))
	switch r.IntN(10) {
	case 0:
		return good[:r.IntN(len(good))]
	case 1:
		return bytes.Replace(good, []byte("age"), []byte{0xff, 'a'}, 1)
	case 2:
		return append(good, good...)
	case 3:
		return fmt.Appendf(nil, "[%s]", good)
	case 4:
		return []byte(`{"age": "old"}`)
	case 5:
		return []byte(`{"age": [1, {"age": 2}]}`)
	case 6:
		return []byte(`{"aeg": 1}`)
	case 7:
		return []byte(`{"age": 1e999}`)
	case 8:
		return []byte(strings.Repeat("[", 1+r.IntN(maxBody-1)))
	default:
		return fmt.Appendf(nil, `{"name": %q}`, strings.Repeat("x", maxBody+r.IntN(maxBody)))
	}
}

// TestBadBodies: 2,000 seeded bodies are refused with a sentence, and the service goes on.
func TestBadBodies(t *testing.T) {
	folder := t.TempDir()
	writeModel(t, folder, 40)
	url := serve(t, folder)
	r := rand.New(rand.NewPCG(21, 0))
	for i := range 2000 {
		body := badBody(r)
		status, answer, err := post(url, body)
		var got refused
		if err == nil {
			err = json.Unmarshal(answer, &got)
		}
		if err != nil || got.Error == "" || status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge {
			t.Fatalf("body %d, %.100q: status %d, %s, error %v", i, body, status, answer, err)
		}
	}
	_, answer, err := post(url, []byte(`{"age": "old"}`))
	var got refused
	if err == nil {
		err = json.Unmarshal(answer, &got)
	}
	if err != nil || got.Column != "age" || got.Value != "old" || got.Reason != "not a number, as the feature needs" ||
		got.Hint != "give a number such as 12.5, or no value" {
		t.Errorf("an age that is no number: %s, error %v, want its parts", answer, err)
	}
	for body, unseen := range map[string]bool{`{"age": 41}`: false, `{"age": null}`: true, `{}`: true} {
		status, answer, err := post(url, []byte(body))
		if err != nil || status != http.StatusOK || bytes.Contains(answer, []byte(`"unseen":["age"]`)) != unseen {
			t.Errorf("%s after all: status %d, %s, error %v; want an unseen age: %v", body, status, answer, err, unseen)
		}
	}
}

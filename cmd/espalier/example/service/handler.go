package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/io/models"
)

// prepare makes the scorer of a model. Rows may have all columns that training had.
func prepare(m *models.Model) (*gorows.MapScorer, error) {
	return gorows.NewMapScorer(m.Tree, m.Columns...)
}

// newServer returns a server with limits on the time and the bytes of requests.
func newServer(live *models.Live[*gorows.MapScorer]) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("POST /score", &scoreHandler{live})
	return &http.Server{
		Handler: http.TimeoutHandler(mux, requestTime, `{"error": "the request took too long"}`), MaxHeaderBytes: maxHeader,
		ReadTimeout: requestTime, ReadHeaderTimeout: requestTime, WriteTimeout: 2 * requestTime, IdleTimeout: idleTime,
	}
}

// scoreHandler scores a row: a JSON object with a value for each known column.
type scoreHandler struct {
	live *models.Live[*gorows.MapScorer]
}

// scored is the answer to a row.
type scored struct {
	Class         string             `json:"class"`
	Probabilities map[string]float64 `json:"probabilities"`
	Leaf          int                `json:"leaf"`
	Tests         int                `json:"tests"`
	Cost          float64            `json:"cost"`
	Model         string             `json:"model"`
	Unseen        []string           `json:"unseen,omitempty"` // tested columns with what training did not have
}

// refused is the answer to a row that cannot be scored.
type refused struct {
	Error string `json:"error"`
}

// ServeHTTP implements http.Handler.
func (h *scoreHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	row, err := readRow(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			reply(w, http.StatusRequestEntityTooLarge, refused{fmt.Sprintf("more than %d bytes", large.Limit)})
			return
		}
		reply(w, http.StatusBadRequest, refused{err.Error()})
		return
	}
	model, scorer := h.live.Current()
	p, err := scorer.Predict(row)
	var unseen []string
	if err == nil {
		unseen, err = scorer.Unseen(row)
	}
	if err != nil {
		reply(w, http.StatusBadRequest, refused{err.Error()})
		return
	}
	answer := scored{
		Class: p.Class, Probabilities: make(map[string]float64), Leaf: p.Leaf, Tests: p.Tests, Cost: p.Billed,
		Model: model.ID, Unseen: unseen,
	}
	for i, class := range model.Tree.Label.Classes {
		answer.Probabilities[class] = p.Probabilities[i]
	}
	reply(w, http.StatusOK, answer)
}

// readRow reads a single JSON object.
func readRow(body io.Reader) (row map[string]any, err error) {
	d := json.NewDecoder(body)
	d.UseNumber()
	if err := d.Decode(&row); err != nil {
		return nil, fmt.Errorf("want a JSON object of values by column: %w", err)
	}
	if row == nil {
		return nil, errors.New("want a JSON object of values by column, not null")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("want nothing behind the JSON object"), err)
	}
	return row, nil
}

// reply writes an answer as JSON. A client that has gone away sees nothing of it.
func reply(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

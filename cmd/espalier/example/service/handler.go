package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/espalier-ml/espalier/induce/dataset"
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

// refused is the answer to a row that cannot be scored. The other fields describe the first value at
// fault, if there is one.
type refused struct {
	Error  string `json:"error"`
	Column string `json:"column,omitempty"`
	Value  string `json:"value,omitempty"`
	Reason string `json:"reason,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// refusedBy returns the answer for an error.
func refusedBy(err error) refused {
	answer := refused{Error: err.Error()}
	var e *dataset.DataError
	if errors.As(err, &e) {
		answer.Column = e.Column
		answer.Value = e.Value
		answer.Reason = e.Problem
		answer.Hint = e.Hint
	}
	return answer
}

// ServeHTTP implements http.Handler.
func (h *scoreHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		reply(w, http.StatusRequestEntityTooLarge, refused{Error: fmt.Sprintf("more than %d bytes", large.Limit)})
		return
	}
	var row map[string]any
	if err == nil {
		row, err = gorows.DecodeJSON(body)
	}
	if err != nil {
		reply(w, http.StatusBadRequest, refusedBy(err))
		return
	}
	model, scorer := h.live.Current()
	p, err := scorer.Predict(row)
	var unseen []string
	if err == nil {
		unseen, err = scorer.Unseen(row)
	}
	if err != nil {
		reply(w, http.StatusBadRequest, refusedBy(err))
		return
	}
	answer := scored{
		Class: p.Class, Probabilities: make(map[string]float64), Leaf: p.Leaf, Tests: p.Tests, Cost: p.Cost,
		Model: model.ID, Unseen: unseen,
	}
	for i, class := range model.Tree.Label.Classes {
		answer.Probabilities[class] = p.Probabilities[i]
	}
	reply(w, http.StatusOK, answer)
}

// reply writes an answer as JSON. A client that has gone away sees nothing of it.
func reply(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

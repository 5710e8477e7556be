package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContract infers a contract of the columns of imported rows, trains by it without --label, and is
// told of rows that break it.
func TestContract(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(at("letters.csv"), []byte(letters()), 0o600); err != nil {
		t.Fatal(err)
	}
	espalier(t, "import", at("letters.csv"), "--output", at("data")).wants(t, 0)
	espalier(t, "contract", at("data")).wants(t, 0)
	o := espalier(t, "contract", at("data"), "--output", at("contract.yaml"))
	o.wants(t, 0)
	b, err := os.ReadFile(at("contract.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, part := range []string{
		"name: \"n\" # 300 distinct, from 0 to 299, another value in each row: a key?", "role: ignored", "type: date",
		"min: 2023-12-18", "role: label",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	espalier(t, "contract", at("data"), "--output", at("contract.yaml")).wants(t, 2, "contract.yaml")
	train := []string{"train", "--input", at("data"), "--contract", at("contract.yaml"), "--output"}
	espalier(t, append(train, at("run"))...).wants(t, 0)

	narrow := strings.Replace(text, "    max: 29\n", "    max: 18\n", 1) // of x, from 0.5 to 19.5
	if narrow == text {
		t.Fatalf("no max of x in\n%s", text)
	}
	if err := os.WriteFile(at("contract.yaml"), []byte(narrow), 0o600); err != nil {
		t.Fatal(err)
	}
	espalier(t, append(train, at("none"), "--rejects", at("rejects.parquet"))...).wants(t, 3,
		`column "x"`, `value "18.5"`, "row 18: the value is above max, 18; 30 of 300 rows break the contract", "--max_rejects")
	if _, err := os.Stat(at("none")); err == nil {
		t.Error("a refused run left a folder")
	}
	if _, err := os.Stat(at("rejects.parquet")); err != nil {
		t.Error(err)
	}
	espalier(t, append(train, at("fewer"), "--max_rejects", "30")...).wants(t, 0, "30 of 300 rows break the contract")
	espalier(t, "train", "--input", at("data"), "--output", at("x"), "--progress", "none").wants(t, 2, "--label")
	espalier(t, append(train, at("x"), "--contract", "", "--label", "class")...).wants(t, 2, "--contract: the value is empty")
	espalier(t, "train", "--input", at("data"), "--output", at("x"), "--progress", "none", "--max_rejects", "3", "--label", "class").
		wants(t, 2, "--contract")
}

// TestUnseen: a column of texts that new rows mostly lack is left out, by training and by the contract, until a setting names it.
// A column of as many rows with shops of about 14 rows is a feature.
func TestUnseen(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	var b strings.Builder
	b.WriteString("note,shop,class\n")
	for i := range 1400 {
		note := i
		if i%10 == 0 {
			note = i % 400 // in four rows, or three
		}
		fmt.Fprintf(&b, "call of %x,shop %d,%d\n", note*977, i*7919%100, i*31%7%2)
	}
	if err := os.WriteFile(at("calls.csv"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	espalier(t, "import", at("calls.csv"), "--output", at("data")).wants(t, 0)
	train := []string{"train", "--input", at("data"), "--label", "class", "--certificate", "none", "--folds", "0", "--output"}
	left := `left out "note"`
	o := espalier(t, append(train, at("run"))...)
	o.wants(t, 0, left+": 9", " % of new rows are expected to have a text that no training row has; --categorical note makes it a feature")
	schema, err := os.ReadFile(at("run/schema.json"))
	if err != nil || !strings.Contains(string(schema), `{"name": "note", "role": "ignored"`) ||
		!strings.Contains(string(schema), `{"name": "shop", "role": "feature"`) {
		t.Errorf("%v: schema.json is %s", err, schema)
	}
	o = espalier(t, append(train, at("named"), "--categorical", "note")...)
	o.wants(t, 0)
	if strings.Contains(o.stderr, left) {
		t.Errorf("--categorical: %s", o.stderr)
	}
	o = espalier(t, "contract", at("data"), "--output", at("contract.yaml"))
	o.wants(t, 0)
	contract, err := os.ReadFile(at("contract.yaml"))
	if err != nil || !strings.Contains(string(contract), "0.9 of new rows are expected to have another text\n    type: text\n    role: ignored") {
		t.Errorf("%v: the contract is %s", err, contract)
	}
}

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// value is a JSON value. Objects keep the order of their members.
type value struct {
	keys  []string // keys of an object
	items []*value // values of an object or array
	kind  byte     // '{', '[' or 'v'
	text  string   // of other values, in JSON
}

// parseValue parses a JSON document; nil: it is none.
func parseValue(b []byte) *value {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	v, err := nextValue(d)
	if err != nil || d.More() {
		return nil
	}
	return v
}

func nextValue(d *json.Decoder) (*value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := token.(json.Delim)
	if !ok {
		text, err := json.Marshal(token)
		return &value{kind: 'v', text: string(text)}, err
	}
	v := &value{kind: byte(open)}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string) // a key is a text
			v.keys = append(v.keys, name)
		}
		item, err := nextValue(d)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
	}
	_, err = d.Token()
	return v, err
}

func (v *value) append(b []byte) []byte {
	if v.kind == 'v' {
		return append(b, v.text...)
	}
	b = append(b, v.kind)
	for i, item := range v.items {
		if i > 0 {
			b = append(b, ',')
		}
		if v.kind == '{' {
			key, _ := json.Marshal(v.keys[i]) // a text
			b = append(append(b, key...), ':')
		}
		b = item.append(b)
	}
	return append(b, v.kind+2) // the closing one in ASCII
}

func (v *value) clone() *value {
	c := *v
	c.keys = append([]string(nil), v.keys...)
	c.items = make([]*value, len(v.items))
	for i, item := range v.items {
		c.items[i] = item.clone()
	}
	return &c
}

// place is an item of an object or array.
type place struct {
	in *value
	at int
}

func (v *value) places(list []place) []place {
	for i, item := range v.items {
		list = item.places(append(list, place{v, i}))
	}
	return list
}

// mutator makes mutations of documents. The same numbers give the same mutations.
type mutator struct {
	*rand.Rand

	names []string // of files outside, as documents could name them
}

// strange are JSON values in place of others.
func (m *mutator) strange() *value {
	texts := []string{
		"0", "-1", "1", "2", "1000000", "2147483648", "9007199254740992", "9223372036854775807", "-9223372036854775808",
		"1e308", "-1e308", "1e-320", "0.5", "1e999", "null", "true", "false", `""`, `"x"`, `"NaN"`, `"\u0000"`,
		`"\u001b]0;x\u0007\u001b[31m"`, `"\u202ex"`, "[]", "{}", "[[]]", "[1,2,3]", `"missing"`, `"other"`, "65536",
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000), `"` + strings.Repeat("long ", 2000) + `"`,
	}
	for _, name := range m.names {
		texts = append(texts, strconv.Quote(name), strconv.Quote(name))
	}
	return &value{kind: 'v', text: texts[m.IntN(len(texts))]}
}

// mutate returns a mutation of a document. A document of a head in JSON and a body has the digest of the
// body in its head.
func (m *mutator) mutate(good []byte) []byte {
	if parsed := parseValue(good); parsed != nil {
		if m.IntN(10) < 8 {
			return m.mutateValue(parsed).append(nil)
		}
		return m.mutateBytes(good, true)
	}
	head, body, found := bytes.Cut(good, []byte{'\n'})
	parsed := parseValue(head)
	if !found || parsed == nil {
		return m.mutateBytes(good, m.IntN(2) == 0)
	}
	if m.IntN(3) == 0 {
		parsed = m.mutateValue(parsed)
	} else {
		body = m.mutateBytes(body, false)
	}
	for i, key := range parsed.keys {
		if key == "digest" && m.IntN(20) > 0 {
			sum := sha256.Sum256(body)
			parsed.items[i] = &value{kind: 'v', text: strconv.Quote(hex.EncodeToString(sum[:]))}
		}
	}
	return append(append(parsed.append(nil), '\n'), body...)
}

// forge returns a mutation of the work that a state.json has, with the digest to it.
func (m *mutator) forge(good []byte) []byte {
	state := parseValue(good)
	work := []string{"row_stats", "spec", "features", "classes", "objects", "growth"}
	key := slices.Index(state.keys, work[m.IntN(len(work))])
	inside := &value{kind: '[', items: []*value{state.items[key]}} // the whole of it is a place, too
	state.items[key] = &value{kind: 'v', text: "null"}
	if inside = m.mutateValue(inside); len(inside.items) > 0 {
		state.items[key] = inside.items[0]
	}
	digest := slices.Index(state.keys, "digest")
	state.keys = slices.Delete(state.keys, digest, digest+1)
	state.items = slices.Delete(state.items, digest, digest+1)
	sum := sha256.Sum256(state.append(nil))
	state.keys = slices.Insert(state.keys, digest, "digest")
	state.items = slices.Insert(state.items, digest, &value{kind: 'v', text: strconv.Quote(hex.EncodeToString(sum[:]))})
	return state.append(nil)
}

// mutateValue changes one to three places of a document.
func (m *mutator) mutateValue(v *value) *value {
	for range []int{1, 1, 1, 2, 3}[m.IntN(5)] {
		places := v.places(nil)
		if len(places) == 0 {
			return m.strange()
		}
		p := places[m.IntN(len(places))]
		item := p.in.items[p.at]
		switch n := m.IntN(100); {
		case n < 35:
			p.in.items[p.at] = m.strange()
		case n < 50:
			p.remove()
		case n < 60:
			p.repeat(item, 1+m.IntN(2)*m.IntN(300))
		case n < 65 && item.kind == '[': // another length
			item.items = item.items[:m.IntN(len(item.items)+1)]
		case n < 80:
			p.in.items[p.at] = m.near(item)
		case n < 90:
			p.in.items[p.at] = places[m.IntN(len(places))].item().clone()
		case n < 93 && p.in.kind == '{':
			p.in.keys[p.at] = strings.ToUpper(p.in.keys[p.at])
		default:
			q := places[m.IntN(len(places))]
			other := q.item()
			q.in.items[q.at] = item.clone()
			p.in.items[p.at] = other.clone()
		}
	}
	return v
}

func (p place) item() *value { return p.in.items[p.at] }

func (p place) remove() {
	p.in.items = append(p.in.items[:p.at:p.at], p.in.items[p.at+1:]...)
	if p.in.kind == '{' {
		p.in.keys = append(p.in.keys[:p.at:p.at], p.in.keys[p.at+1:]...)
	}
}

func (p place) repeat(item *value, times int) {
	for range times {
		p.in.items = append(p.in.items, item.clone())
		if p.in.kind == '{' {
			p.in.keys = append(p.in.keys, p.in.keys[p.at])
		}
	}
}

// near returns a number near another one, a text near another one, or a strange value.
func (m *mutator) near(v *value) *value {
	if x, err := strconv.ParseFloat(v.text, 64); err == nil {
		x += []float64{-1, 1, -2, 1000, -2 * x, 1e-9, x}[m.IntN(7)]
		return &value{kind: 'v', text: strconv.FormatFloat(x, 'g', -1, 64)}
	}
	var text string
	if json.Unmarshal([]byte(v.text), &text) != nil || text == "" {
		return m.strange()
	}
	b, err := base64.StdEncoding.DecodeString(text)
	const short = 16
	if err == nil && len(b) > short {
		text = base64.StdEncoding.EncodeToString(m.mutateBytes(b, m.IntN(2) == 0))
	} else {
		text = string(m.mutateBytes([]byte(text), true))
	}
	quoted, _ := json.Marshal(text) // a text
	return &value{kind: 'v', text: string(quoted)}
}

// mutateBytes changes bytes, and with another length also removes and repeats some.
func (m *mutator) mutateBytes(good []byte, length bool) []byte {
	b := bytes.Clone(good)
	for range []int{1, 1, 2, 4, 8}[m.IntN(5)] {
		if len(b) == 0 {
			return b
		}
		at := m.IntN(len(b))
		end := min(len(b), at+1+m.IntN(64))
		switch n := m.IntN(100); {
		case n < 50:
			b[at] ^= 1 << m.IntN(8)
		case n < 75:
			b[at] = []byte{0, 255, 127, 128, 1}[m.IntN(5)]
		case !length:
			copy(b[at:min(len(b), at+8)], "\xff\xff\xff\xff\xff\xff\xff\x7f")
		case n < 85:
			b = append(b[:at:at], b[end:]...)
		case n < 95:
			b = append(b[:end:end], b[at:]...)
		default:
			b = b[:at]
		}
	}
	return b
}

package onnx

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is an encoded message of onnx.proto; the numbers of its fields are defined in that file.
type message []byte

func (m *message) number(field protowire.Number, v int64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	*m = protowire.AppendVarint(*m, uint64(v))
}

func (m *message) bytes(field protowire.Number, v []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, v)
}

func (m *message) text(field protowire.Number, v string) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendString(*m, v)
}

// kind is an element type of tensors.
type kind int64

const (
	whole  kind = 7
	text   kind = 8
	truth  kind = 9
	double kind = 11
)

// tensor returns a TensorProto. If dims is empty, it has the dimension of raw or texts.
func tensor(name string, of kind, dims []int, raw []byte, texts []string) message {
	var m message
	for _, d := range dims {
		m.number(1, int64(d))
	}
	m.number(2, int64(of))
	for _, s := range texts {
		m.text(6, s)
	}
	if name != "" {
		m.text(8, name)
	}
	if of != text {
		m.bytes(9, raw)
	}
	return m
}

// rawData returns numbers or truth values in the form of TensorProto.raw_data.
func rawData(list any) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, list) // all callers have lists of a fixed size
	return b
}

// The types of attributes.
const (
	typeNumber  = 2
	typeText    = 3
	typeTensor  = 4
	typeNumbers = 7
	typeTexts   = 8
)

// attribute begins an AttributeProto.
func attribute(name string, kind int64) message {
	var m message
	m.text(1, name)
	m.number(20, kind)
	return m
}

func numberAttribute(name string, v int64) message {
	m := attribute(name, typeNumber)
	m.number(3, v)
	return m
}

func textAttribute(name, v string) message {
	m := attribute(name, typeText)
	m.text(4, v)
	return m
}

func tensorAttribute(name string, v message) message {
	m := attribute(name, typeTensor)
	m.bytes(5, v)
	return m
}

func numbersAttribute(name string, list []int64) message {
	m := attribute(name, typeNumbers)
	var packed []byte
	for _, x := range list {
		packed = protowire.AppendVarint(packed, uint64(x))
	}
	m.bytes(8, packed)
	return m
}

func textsAttribute(name string, list []string) message {
	m := attribute(name, typeTexts)
	for _, s := range list {
		m.text(9, s)
	}
	return m
}

// valueInfo returns a ValueInfoProto of a tensor whose first dimension is the rows.
func valueInfo(name string, of kind, about string, dims ...int) message {
	var shape, rows, tensorType, typeOf, m message
	rows.text(2, "rows")
	shape.bytes(1, rows)
	for _, d := range dims {
		var dim message
		dim.number(1, int64(d))
		shape.bytes(1, dim)
	}
	tensorType.number(1, int64(of))
	tensorType.bytes(2, shape)
	typeOf.bytes(1, tensorType)
	m.text(1, name)
	m.bytes(2, typeOf)
	m.text(3, about)
	return m
}

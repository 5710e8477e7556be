package parquetio

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
)

// arrowKey is the key of the Arrow schema of a table that was written from Arrow: a message of its IPC format in base64.
const arrowKey = "ARROW:schema"

// Places in the tables of Arrow's Schema.fbs and Message.fbs, and values there.
const (
	messageType    = 1 // slots of Message
	messageHeader  = 2
	schemaMessage  = 1 // in the union MessageHeader
	schemaFields   = 1 // slot of Schema
	fieldName      = 0 // slots of Field
	fieldType      = 2
	fieldTypeTable = 3
	durationType   = 18 // in the union Type
	durationUnit   = 0  // slot of Duration
	milliseconds   = 1  // the unit of a Duration without this field
)

// markDurations notes the units of durations of Arrow, which Parquet stores as numbers. A schema that cannot be read names
// no durations.
func markDurations(columns []Column, metadata []keyValue) {
	at := slices.IndexFunc(metadata, func(entry keyValue) bool { return entry.Key == arrowKey })
	if at < 0 {
		return
	}
	message, err := base64.StdEncoding.DecodeString(metadata[at].Value)
	if err != nil {
		return
	}
	units := durationsOf(message, len(columns))
	for i := range columns {
		if c := &columns[i]; c.Physical == "INT64" && c.Logical == "" {
			c.Duration = units[c.Name]
		}
	}
}

// durationsOf returns the units of the durations of a message of Arrow's IPC format, by the names of their columns. A message
// of more columns than most is not of the file.
func durationsOf(message []byte, most int) map[string]string {
	root := 4 // behind the length; a format of later versions has a mark in front of it
	if len(message) >= 4 && binary.LittleEndian.Uint32(message) == math.MaxUint32 {
		root = 8
	}
	if len(message) < root {
		return nil
	}
	b := flatbuffer(message[root:])
	at, ok := b.reference(0)
	if !ok {
		return nil
	}
	if kind, ok := b.byteOf(at, messageType); !ok || kind != schemaMessage {
		return nil
	}
	schema, ok := b.tableOf(at, messageHeader)
	if !ok {
		return nil
	}
	fields, ok := b.tableOf(schema, schemaFields)
	if !ok {
		return nil
	}
	names := [...]string{"s", "ms", "us", "ns"} // the values of TimeUnit, in order
	n, _ := b.number(fields)
	if int64(n) > int64(most) {
		return nil
	}
	units := make(map[string]string)
	for i := range int(n) {
		field, ok := b.reference(fields + 4 + 4*i)
		if !ok {
			return units
		}
		if kind, ok := b.byteOf(field, fieldType); !ok || kind != durationType {
			continue
		}
		name, ok := b.textOf(field, fieldName)
		duration, there := b.tableOf(field, fieldTypeTable)
		if !ok || !there {
			continue
		}
		unit, ok := b.byteOf(duration, durationUnit)
		if !ok {
			unit = milliseconds
		}
		if int(unit) < len(names) {
			units[name] = names[unit]
		}
	}
	return units
}

// flatbuffer reads tables of the format FlatBuffers. Its methods return false for places outside of it.
type flatbuffer []byte

// number returns the number of 4 bytes at a place.
func (b flatbuffer) number(at int) (uint32, bool) {
	if at < 0 || at > len(b)-4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b[at:]), true
}

// reference returns the place to which the offset at a place leads.
func (b flatbuffer) reference(at int) (place int, ok bool) {
	offset, ok := b.number(at)
	place = at + int(offset)
	return place, ok && offset > 0 && place < len(b)
}

// slot returns the place of a field of a table; ok is false if the table lacks it.
func (b flatbuffer) slot(table, field int) (place int, ok bool) {
	back, ok := b.number(table)
	slots := table - int(int32(back))
	at := slots + 4 + 2*field
	if !ok || slots < 0 || slots > len(b)-4 || at > len(b)-2 || at+2 > slots+int(binary.LittleEndian.Uint16(b[slots:])) {
		return 0, false
	}
	offset := int(binary.LittleEndian.Uint16(b[at:]))
	return table + offset, offset > 0 && table+offset < len(b)
}

// byteOf returns the first byte of a field.
func (b flatbuffer) byteOf(table, field int) (byte, bool) {
	at, ok := b.slot(table, field)
	if !ok {
		return 0, false
	}
	return b[at], true
}

// tableOf returns the place of the table or the list of a field.
func (b flatbuffer) tableOf(table, field int) (place int, ok bool) {
	at, ok := b.slot(table, field)
	if !ok {
		return 0, false
	}
	return b.reference(at)
}

// textOf returns the text of a field.
func (b flatbuffer) textOf(table, field int) (string, bool) {
	at, ok := b.tableOf(table, field)
	if !ok {
		return "", false
	}
	n, ok := b.number(at)
	if !ok || int64(n) > int64(len(b)-at-4) {
		return "", false
	}
	return string(b[at+4 : at+4+int(n)]), true
}

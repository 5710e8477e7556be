package setting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/espalier-ml/espalier/induce/naming"
)

// Encode writes the settings of a config as a JSON object, in the order of the config's
// fields. Each exported field has one setting, else Encode fails; fields of embedded
// structs count as fields of the config, and a field with the tag `json:"-"` is no
// setting.
func Encode(config any, settings []Setting) ([]byte, error) {
	ordered, err := inOrder(config, settings)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, s := range ordered {
		value, err := json.Marshal(s.Value.target())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", s.Name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Decode reads settings from a JSON object. Settings that it does not name stay as they
// are, unknown keys are refused. A value may also be the text that its flag takes, as
// "64MiB" for a size.
func Decode(b []byte, settings []Setting) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(members)) {
		at := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == key })
		if at < 0 {
			faults = append(faults, unknownKey(key, settings))
			continue
		}
		if err := settings[at].decode(members[key]); err != nil {
			faults = append(faults, fmt.Errorf("%s: got %s: %w", key, members[key], err))
		}
	}
	return errors.Join(faults...)
}

func unknownKey(key string, settings []Setting) error {
	if near := naming.Nearest(key, Names(settings)); near != "" {
		return fmt.Errorf("unknown key %q; did you mean %q?", key, near)
	}
	return fmt.Errorf("unknown key %q", key)
}

// decode reads the value of one setting.
func (s *Setting) decode(raw json.RawMessage) error {
	if json.Unmarshal(raw, s.Value.target()) == nil {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return errors.New("want " + s.Value.Wants())
	}
	return s.Value.Set(text)
}

// inOrder returns the settings in the order of the fields that they set.
func inOrder(config any, settings []Setting) ([]Setting, error) {
	byField := make(map[any]Setting, len(settings))
	for _, s := range settings {
		if other, twice := byField[s.Value.target()]; twice {
			return nil, fmt.Errorf("the settings %s and %s set the same field", other.Name, s.Name)
		}
		byField[s.Value.target()] = s
	}
	var ordered []Setting
	var walk func(v reflect.Value) error
	walk = func(v reflect.Value) error {
		for i := range v.NumField() {
			field := v.Type().Field(i)
			switch {
			case field.Anonymous && field.Type.Kind() == reflect.Struct:
				if err := walk(v.Field(i)); err != nil {
					return err
				}
			case field.IsExported() && field.Tag.Get("json") != "-":
				s, ok := byField[v.Field(i).Addr().Interface()]
				if !ok {
					return fmt.Errorf("the field %s of %s has no setting", field.Name, v.Type())
				}
				ordered = append(ordered, s)
			}
		}
		return nil
	}
	if err := walk(reflect.ValueOf(config).Elem()); err != nil {
		return nil, err
	}
	if len(ordered) < len(settings) {
		return nil, fmt.Errorf("%d settings set no field of %T", len(settings)-len(ordered), config)
	}
	return ordered, nil
}

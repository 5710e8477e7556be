package setting

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Encode writes the settings of a config as a JSON object, in the order of the config's
// fields. Each exported field has one setting, else Encode fails; fields of embedded
// structs count as fields of the config, and a field with the tag `json:"-"` is no
// setting. Secrets are concealed.
func Encode(config any, settings []Setting) ([]byte, error) {
	ordered, err := inOrder(config, settings)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, s := range ordered {
		shown := encoded(s.Value)
		if s.Conceal != nil {
			shown = s.Conceal(reflect.Indirect(reflect.ValueOf(shown)).Interface())
		}
		value, err := json.Marshal(shown)
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
// are, and so do settings whose secrets are concealed; unknown keys are refused. earlier has the names of settings by their names in earlier versions; empty: the
// setting is ignored. A value may also be the text that its flag takes, as "64MiB" for a size.
func Decode(b []byte, settings []Setting, earlier map[string]string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(members)) {
		name, known := earlier[key]
		if known && name == "" {
			continue
		}
		at := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == cmp.Or(name, key) })
		if at < 0 {
			faults = append(faults, unknownKey(key, settings))
			continue
		}
		if settings[at].Conceal != nil && bytes.Contains(members[key], []byte(Concealed)) {
			continue // documents do not have the value
		}
		if err := settings[at].decode(members[key]); err != nil {
			faults = append(faults, fmt.Errorf("%s: got %s: %w", key, members[key], err))
		}
	}
	return errors.Join(faults...)
}

func unknownKey(key string, settings []Setting) error {
	return fmt.Errorf("unknown key %q%s", key, Near(key, Names(settings)))
}

// own is a value with a form of its own in JSON.
type own interface {
	encode() any
	decode(raw []byte) error
}

// encoded returns what stands for a value in JSON.
func encoded(v Value) any {
	if o, ok := v.(own); ok {
		return o.encode()
	}
	return v.target()
}

// targets returns pointers to the fields that a value sets.
func targets(v Value) []any {
	if several, ok := v.(interface{ targets() []any }); ok {
		return several.targets()
	}
	return []any{v.target()}
}

// Inherit sets the fields of settings to the fields of others with the same names, except settings
// for which keep returns true.
func Inherit(to, from []Setting, keep func(name string) bool) {
	for _, s := range from {
		at := slices.IndexFunc(to, func(own Setting) bool { return own.Name == s.Name })
		if at < 0 || keep(s.Name) {
			continue
		}
		own := targets(to[at].Value)
		for i, field := range targets(s.Value) {
			reflect.ValueOf(own[i]).Elem().Set(reflect.ValueOf(field).Elem())
		}
	}
}

// decode reads the value of one setting.
func (s *Setting) decode(raw json.RawMessage) error {
	if o, ok := s.Value.(own); ok {
		return o.decode(raw)
	}
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
		for _, to := range targets(s.Value) {
			if other, twice := byField[to]; twice {
				return nil, fmt.Errorf("the settings %s and %s set the same field", other.Name, s.Name)
			}
			byField[to] = s
		}
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
				if v.Field(i).Addr().Interface() == s.Value.target() {
					ordered = append(ordered, s)
				}
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

package config

import "encoding/json"

// Fixed returns the settings that the tree depends on.
func (c *Train) Fixed() (map[string]any, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	settings := make(map[string]any)
	if err := json.Unmarshal(b, &settings); err != nil {
		return nil, err
	}
	for _, s := range c.Settings() {
		if s.Changeable {
			delete(settings, s.Name)
		}
	}
	return settings, nil
}

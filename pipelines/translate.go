package pipelines

import "context"

// translate translates all jobs of a run for its engine without submitting any of
// them, and returns their names.
func (t *training) translate(ctx context.Context) ([]string, error) {
	var names []string
	for _, g := range t.graphs() {
		if err := t.driver.Translate(ctx, g.name, g.tasks, g.build); err != nil {
			return nil, err
		}
		names = append(names, g.name)
	}
	return names, nil
}

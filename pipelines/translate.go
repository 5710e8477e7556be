package pipelines

import "context"

// translate translates all jobs of a run for its engine without submitting any of them, and
// returns their names. done are the trees of the run, or of its rehearsal.
func (r *run) translate(ctx context.Context, done *grown) ([]string, error) {
	var names []string
	for _, g := range r.graphs(done) {
		if err := r.driver.Translate(ctx, g.name, g.tasks, g.build); err != nil {
			return nil, err
		}
		names = append(names, g.name)
	}
	return names, nil
}

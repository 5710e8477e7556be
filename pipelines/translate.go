package pipelines

import "context"

// translate lets the engine translate one job of each kind without submitting it, and returns
// the names of the jobs. done are the trees of the run, or of its rehearsal.
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

package train

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// bySize returns the frontier with other points: for each maximum number of leaves the point that the rule of choice takes,
// by ascending number of leaves. A point that frontier.json does not list has no file.
func (p *promotion) bySize() (*runfolder.Frontier, error) {
	s := p.parsed.Selection.Settings
	limits := &p.parsed.Selection.Limits
	given := limits.Leaves
	defer func() { limits.Leaves = given }()
	var points []runfolder.Point
	for most := p.frontier.Points[p.now].Leaves; ; {
		limits.Leaves = most
		s.Limits = *limits
		point, err := p.pointOf(&s)
		switch {
		case err != nil && len(points) == 0:
			return nil, err
		case err != nil: // no smaller tree is within the other limits
			return p.listing(points), nil
		}
		points = append(points, point)
		if most = point.Leaves - 1; most == 0 {
			return p.listing(points), nil
		}
	}
}

// listing returns the frontier with points given by descending number of leaves.
func (p *promotion) listing(points []runfolder.Point) *runfolder.Frontier {
	slices.Reverse(points)
	listing := *p.frontier
	listing.Points = points
	return &listing
}

// pointOf returns the entry of the point that the settings choose, as choose does.
func (p *promotion) pointOf(s *frontier.Settings) (runfolder.Point, error) {
	if p.pool == nil || p.parsed.Selection.WantsModels() {
		at, err := p.amongListed(s.Rule)
		if err != nil {
			return runfolder.Point{}, err
		}
		return p.frontier.Points[at], nil
	}
	q, err := p.pool.ChoosePoint(p.pool.Points, s)
	if err != nil {
		return runfolder.Point{}, err
	}
	if at := p.listed(&q); at >= 0 {
		return p.frontier.Points[at], nil
	}
	point := frontierPoint(0, &frontier.Listed{Point: q}, p.pool.Tree(&q), p.pool)
	point.Tree = ""
	return point, nil
}

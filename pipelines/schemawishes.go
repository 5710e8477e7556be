package pipelines

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// checkWishes makes sure that the wishes are about features, and constraints
// about numeric ones.
func (s *schema) checkWishes(c *TrainConfig, p *config.Parsed) error {
	var faults []error
	for i := range s.columns {
		column := &s.columns[i]
		for _, wish := range []struct {
			flag  string
			named bool
		}{
			{"first", slices.Contains(c.First, column.Name)},
			{"forbid", slices.Contains(c.Forbid, column.Name)},
			{"monotone", p.Monotone[column.Name] != 0},
		} {
			if wish.named && column.role != RoleFeature && column.role != RoleForbidden {
				faults = append(faults, fmt.Errorf("--%s: column %q is no feature, its role is %s", wish.flag, column.Name, column.role))
			}
		}
		if p.Monotone[column.Name] != 0 && column.kind == dataset.Categorical {
			faults = append(faults, fmt.Errorf("--monotone: column %q is categorical, want a numeric one", column.Name))
		}
	}
	if len(faults) > 0 {
		return usage.All(faults)
	}
	return nil
}

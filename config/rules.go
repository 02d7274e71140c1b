package config

import (
	"fmt"
	"slices"

	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/policy"
)

// RulePacks reads the rule packs that the configuration names.
func (c Config) RulePacks() (policy.LoadOptions, error) {
	o := policy.LoadOptions{Patterns: c.Patterns}
	for i, path := range slices.Concat(c.OwnRules, c.Rules) {
		data, err := regular.Read(path, maxFile)
		if err != nil {
			return o, fmt.Errorf("read rules: %w", err)
		}
		o.Packs = append(o.Packs, policy.PackFile{Name: path, Data: data, Own: i < len(c.OwnRules)})
	}
	return o, nil
}

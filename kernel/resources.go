package kernel

import (
	"context"

	"oxios/kernel/limit"
)

// Sample is how loaded the machine was.
type Sample = limit.Sample

// ResourceView is how loaded the machine is, and was in the past hour.
type ResourceView struct {
	Now        Sample   `json:"now"`
	Overloaded bool     `json:"overloaded"` // work that can wait should wait
	History    []Sample `json:"history"`    // the oldest first, every ten seconds while agents work or somebody looks
}

// Resources returns the load of the machine.
func (a *InfraAPI) Resources(ctx context.Context) (ResourceView, error) {
	return guard(ctx, a.caller, action{call: "infra.resources", resource: "machine"}, func(ctx context.Context) (ResourceView, error) {
		list, err := a.k.monitor.Look(ctx)
		if err != nil || len(list) == 0 {
			return ResourceView{History: []Sample{}}, err
		}
		return ResourceView{Now: list[len(list)-1], Overloaded: a.k.monitor.Overloaded(), History: list}, nil
	})
}

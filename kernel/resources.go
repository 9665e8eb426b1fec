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
	Overloaded bool     `json:"overloaded"` // agents of low priority wait
	Running    int      `json:"running"`    // agents that have a place
	Queued     int      `json:"queued"`     // agents that wait for one
	AtOnce     int      `json:"at_once"`    // how many places there are
	History    []Sample `json:"history"`    // the oldest first, every ten seconds while agents work or somebody looks
}

// Resources returns the load of the machine.
func (a *InfraAPI) Resources(ctx context.Context) (ResourceView, error) {
	return guard(ctx, a.caller, action{call: "infra.resources", resource: "machine"}, func(ctx context.Context) (ResourceView, error) {
		list, err := a.k.monitor.Look(ctx)
		if err != nil || len(list) == 0 {
			return ResourceView{History: []Sample{}}, err
		}
		v := ResourceView{Now: list[len(list)-1], Overloaded: a.k.monitor.Overloaded(), History: list}
		v.Running, v.Queued, v.AtOnce = a.k.runs.scheduler.Load()
		return v, nil
	})
}

package kernel

import (
	"cmp"
	"context"
	"slices"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/memory"
	"oxios/kernel/sys"
)

// When another space is told of: at least half of the question must stand in a
// memory of it, and a tenth more than in the best of here, where that is not
// nearly all already. On questions about what is known here, 1 of 22 names another
// space then; see docs/decisions.md.
const (
	leastElsewhere = 0.5
	moreElsewhere  = 0.1
	fullElsewhere  = 0.9
)

// What is told of other spaces at most.
const (
	spacesElsewhere = 3 // spaces
	foundElsewhere  = 3 // memories of all of them
	countElsewhere  = 20
)

// MemoryElsewhere is what another space knows about a question. What it knows
// itself is given only where the person lets that space share its memories.
type MemoryElsewhere struct {
	Space  string        `json:"space"` // its id; "" is the default one
	Name   string        `json:"name"`
	Tag    string        `json:"tag"`   // "[emoji name]"; "[default]" for the default one
	Count  int           `json:"count"` // memories that clearly fit, at most 20
	Kind   string        `json:"kind"`  // of the one that fits best
	About  string        `json:"about"` // what that is about, where it is a fact that says so
	SaidAt time.Time     `json:"said_at"`
	Shared bool          `json:"shared"`
	Found  []MemoryFound `json:"found"` // the best first, three in all spaces together; none of a space that is not shared
}

// Elsewhere says which other spaces clearly know more about a question than that
// of the caller, three at most, the one that knows best first. Archived ones are
// left out. A run that is told so carries where that comes from.
func (a *MemoryAPI) Elsewhere(ctx context.Context, s MemorySearch) ([]MemoryElsewhere, error) {
	var named Labels
	act := a.reading("memory.elsewhere")
	if read := act.brought; read != nil {
		act.brought = func(ctx context.Context) (Labels, error) {
			labels, err := read(ctx)
			return labels.Join(named), err
		}
	}
	return guard(ctx, a.caller, act, func(ctx context.Context) ([]MemoryElsewhere, error) {
		if a.who.Kind == sys.KindAgent {
			s.Space = a.space()
		}
		s.Text = sys.Shorten(s.Text, 4000)
		out, best, err := a.elsewhere(ctx, s)
		if err != nil || len(out) == 0 {
			return out, err
		}
		named = privateLabel()
		var spaces, given []string
		for i, e := range out {
			named = named.Join(best[i].Labels)
			spaces = append(spaces, e.Space)
			for _, f := range e.Found {
				named = named.Join(f.Labels)
				given = append(given, f.ID)
			}
		}
		a.k.publish(event.MemoryElsewhere, a.scope, event.ChangeOf(event.Named, s.Space, spaces...))
		return out, a.used(ctx, given)
	})
}

// elsewhere looks in the other spaces. It also returns what fits best of each.
func (a *MemoryAPI) elsewhere(ctx context.Context, s MemorySearch) (out []MemoryElsewhere, best []MemoryFound, err error) {
	all, err := a.k.store.Spaces(ctx)
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(append(all, SpaceInfo{Name: "default"}), func(o SpaceInfo) bool {
		return o.ID == s.Space || o.ArchivedAt != nil || o.ID != "" && o.Memories == 0
	})
	out = []MemoryElsewhere{}
	if len(all) == 0 {
		return out, nil, nil
	}
	least, err := a.leastElsewhere(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	type known struct {
		space SpaceInfo
		ids   []memory.ID
		cover float64
	}
	var some []known
	for _, o := range all {
		ids, err := a.k.memories.SearchIDs(ctx, memory.Search{Space: o.ID, Text: s.Text, Kind: s.Kind, K: countElsewhere})
		if err != nil {
			return nil, nil, err
		}
		if ids = slices.DeleteFunc(ids, func(f memory.ID) bool { return f.Cover < least }); len(ids) > 0 {
			some = append(some, known{o, ids, slices.MaxFunc(ids, func(a, b memory.ID) int { return cmp.Compare(a.Cover, b.Cover) }).Cover})
		}
	}
	slices.SortStableFunc(some, func(a, b known) int { return cmp.Compare(b.cover, a.cover) })
	left := foundElsewhere
	for _, n := range some[:min(spacesElsewhere, len(some))] {
		o := n.space
		found, err := a.k.memories.Read(ctx, o.ID, n.ids[:min(foundElsewhere, len(n.ids))])
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			continue // forgotten this moment
		}
		e := MemoryElsewhere{
			Space: o.ID, Name: o.Name, Tag: cmp.Or(spaceTag(o), "["+o.Name+"]"), Count: len(n.ids), Shared: o.Shared,
			Kind: found[0].Kind, About: found[0].Key, SaidAt: found[0].SaidAt, Found: []MemoryFound{},
		}
		if o.Shared {
			e.Found = found[:min(left, len(found))]
			left -= len(e.Found)
		}
		out, best = append(out, e), append(best, found[0])
	}
	return out, best, nil
}

// leastElsewhere is the share of a question that must stand in a memory of
// another space, by what is remembered here. What was said here does not count:
// the question itself was, where it was asked before.
func (a *MemoryAPI) leastElsewhere(ctx context.Context, s MemorySearch) (float64, error) {
	own, err := a.k.memories.SearchIDs(ctx, memory.Search{Space: s.Space, Text: s.Text, Kind: s.Kind})
	here := 0.0
	for _, f := range own {
		here = max(here, f.Cover)
	}
	return min(max(leastElsewhere, here+moreElsewhere), fullElsewhere), err
}

package kernel

import (
	"context"
	"slices"

	"oxios/kernel/memory"
	"oxios/kernel/store"
)

// saysIt is which share of the words of a memory that was forgotten another one
// must hold to count as one that says it too.
const saysIt = 0.6

// summariesOf are the ids of the summaries of the conversations that memories
// came from, those among the memories themselves left out.
func (k *Kernel) summariesOf(ctx context.Context, gone []Memory) (ids []string, err error) {
	err = k.store.Read(ctx, func(tx *store.Tx) error {
		ids = nil
		for _, m := range gone {
			if m.Thread == "" {
				continue
			}
			s, err := k.memories.SummaryIn(tx, m.Thread)
			if err != nil {
				return err
			}
			if s.ID != "" && !slices.Contains(ids, s.ID) && !slices.ContainsFunc(gone, func(g Memory) bool { return g.ID == s.ID }) {
				ids = append(ids, s.ID)
			}
		}
		return nil
	})
	return ids, err
}

// stillSaid are the memories that seem to say what others said that were
// forgotten, at most ten.
func (k *Kernel) stillSaid(ctx context.Context, gone []Memory) ([]Memory, error) {
	still := []Memory{}
	for _, m := range gone {
		found, err := k.memories.Search(ctx, memory.Search{Space: m.Space, Text: m.Text, K: 10})
		if err != nil {
			return still, err
		}
		for _, f := range found {
			if f.Cover >= saysIt && len(still) < 10 && !slices.ContainsFunc(still, func(s Memory) bool { return s.ID == f.ID }) {
				still = append(still, f.Memory)
			}
		}
	}
	return still, nil
}

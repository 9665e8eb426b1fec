package kernel

import (
	"context"
	"slices"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// LabelQuery selects labels. Without a run they are those of the files that agents
// wrote, and those that the person has ended.
type LabelQuery struct {
	RunID string `json:"run_id,omitempty"` // or its pid
}

// LabelInfo is a label where it stands.
type LabelInfo struct {
	Label
	RunID  string `json:"run_id,omitempty"`  // the run that has read it, or wrote the file
	StepID string `json:"step_id,omitempty"` // the step that brought it; "" for what the run began with
	Ended  bool   `json:"ended"`             // the person trusts it, or its folder
}

// Labels tells where what a run has read came from, and which files carry such
// labels.
func (a *SecurityAPI) Labels(ctx context.Context, q LabelQuery) ([]LabelInfo, error) {
	return guard(ctx, a.caller, action{call: "security.labels", resource: "labels"}, func(ctx context.Context) ([]LabelInfo, error) {
		out, err := a.k.allLabels(ctx, q)
		if err != nil {
			return nil, err
		}
		var plain Labels
		for _, l := range out {
			plain = append(plain, l.Label)
		}
		live, err := a.k.liveLabels(ctx, plain)
		for i := range out {
			out[i].Ended = !live.Has(out[i].ID)
		}
		return out, err
	})
}

func (k *Kernel) allLabels(ctx context.Context, q LabelQuery) ([]LabelInfo, error) {
	out := []LabelInfo{}
	if q.RunID == "" {
		files, err := k.store.FileLabels(ctx, "", "")
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			out = append(out, LabelInfo{Label: writtenLabel(f), RunID: f.RunID})
		}
		ended, err := k.store.EndedLabels(ctx)
		for _, l := range ended {
			if !slices.ContainsFunc(out, func(o LabelInfo) bool { return o.ID == l.ID }) {
				out = append(out, LabelInfo{Label: l})
			}
		}
		return out, err
	}
	id, err := k.runID(ctx, q.RunID)
	if err != nil {
		return nil, err
	}
	run, err := k.run(ctx, id)
	if err != nil {
		return nil, err
	}
	steps, err := k.store.Steps(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, l := range run.Labels.WithoutWork() {
		out = append(out, LabelInfo{Label: l, RunID: id})
	}
	for _, s := range steps {
		for _, l := range s.Labels.WithoutWork() {
			if !slices.ContainsFunc(out, func(o LabelInfo) bool { return o.ID == l.ID }) {
				out = append(out, LabelInfo{Label: l, RunID: id, StepID: s.ID})
			}
		}
	}
	return out, nil
}

// TrustLabel says that the person trusts what a label is of, as it is: runs that
// have read it are freed of it at once, and so are files that agents wrote after
// they had read nothing else. A file that changes has a new label. With trusted
// false it is taken back.
func (a *SecurityAPI) TrustLabel(ctx context.Context, id string, trusted bool) (LabelInfo, error) {
	act := action{call: "security.trustLabel", resource: "label:" + id, meta: map[string]any{"trusted": trusted}}
	return guard(ctx, a.caller, act, func(ctx context.Context) (LabelInfo, error) {
		l, err := a.k.store.FindLabel(ctx, id)
		if sys.CodeOf(err) == sys.CodeNotFound { // that of a written file is made when it is read
			all, lerr := a.k.allLabels(ctx, LabelQuery{})
			i := slices.IndexFunc(all, func(o LabelInfo) bool { return o.ID == id })
			if lerr != nil {
				err = lerr
			} else if i >= 0 {
				l, err = all[i].Label, nil
			}
		}
		if err != nil {
			return LabelInfo{}, err
		}
		err = a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.EndLabel(tx, l, a.who.Actor(), trusted) })
		if err != nil {
			return LabelInfo{}, err
		}
		live, err := a.k.liveLabels(ctx, security.Labels{l})
		return LabelInfo{Label: l, Ended: len(live) == 0}, err
	})
}

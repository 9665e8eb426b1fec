package kernel

import (
	"context"
	"encoding/json"
	"sync"

	"oxios/kernel/agent"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// neighbours knows in which folders live runs write. When those of two
// conversations write in one folder, or in one that lies in the other, each is
// told of the other, once: nothing is held up by it.
type neighbours struct {
	mu     sync.Mutex
	writes map[string]writer // by run
	told   map[pair]bool
	notes  map[string][]agent.Note // by run: what it was not told so far
}

// writer is a run that has written.
type writer struct {
	sessionID, folder, name string
}

// pair names two conversations, the smaller id first.
type pair struct{ a, b string }

func pairOf(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

func newNeighbours() *neighbours {
	return &neighbours{writes: map[string]writer{}, told: map[pair]bool{}, notes: map[string][]agent.Note{}}
}

// writing reports whether a call of an agent changes what lies in its folder, or
// may.
func (a action) writing() bool {
	if len(a.folders) > 0 {
		return true
	}
	switch a.call {
	case "exec.write", "exec.edit":
		return a.effect == security.EffectWrite
	case "exec.shell", "exec.structured", "exec.script":
		return !a.readOnly
	}
	return false
}

// share notes that a run writes, and tells it and the runs of other
// conversations that write there too.
func (k *Kernel) share(ctx context.Context, s scope) {
	for _, other := range k.neighbours.join(s) {
		k.log.InfoContext(ctx, "Two conversations write in one folder", "run_id", s.runID, "other", other.sessionID, "folder", s.folder)
		meta := map[string]any{"run_id": s.runID, "session_id": s.sessionID, "other_session": other.sessionID, "other_folder": other.folder, "node": k.node}
		err := k.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
			_, err := k.audit.Append(tx, k.newEntry("kernel", security.ActionOther, "two conversations write in "+s.folder, meta))
			return err
		})
		if err != nil {
			k.log.WarnContext(ctx, "Could not record that a folder is shared", "error", err)
		}
		own := writer{s.sessionID, s.folder, s.agent}
		for _, to := range [][2]writer{{own, other}, {other, own}} {
			first := k.runs.inSession(to[0].sessionID)
			k.neighbours.tell(to[0], to[1], first)
			if k.runs.of(first).scope.runID == "" { // it ended meanwhile
				k.neighbours.take(first)
			}
		}
	}
}

// join notes that a run writes, and returns a writer of each other conversation
// that it now shares a folder with, and that nobody was told of.
func (n *neighbours) join(s scope) (others []writer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.writes[s.runID]; ok {
		return nil
	}
	n.writes[s.runID] = writer{s.sessionID, s.folder, s.agent}
	for _, w := range n.writes {
		p := pairOf(s.sessionID, w.sessionID)
		if w.sessionID == s.sessionID || n.told[p] || !(security.Within(w.folder, s.folder) || security.Within(s.folder, w.folder)) {
			continue
		}
		n.told[p] = true
		others = append(others, w)
	}
	return others
}

// tell leaves a note for all that write in a conversation, and for its first
// run, whose steps are what a person sees there.
func (n *neighbours) tell(to, of writer, first string) {
	folder := shortenHome(to.folder)
	note := agent.Note{
		About: of.sessionID,
		Title: sys.Say("Another agent (%s) writes in %s too. Files may change while both are at work.", of.name, folder),
		Text: "(Oxios: an agent of another conversation (" + of.name + ") writes in " + folder + " too. Files may change under you: read a file again before you change it, " +
			"and leave alone what you did not make. The person knows.)",
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if first != "" {
		n.notes[first] = append(n.notes[first], note)
	}
	for id, w := range n.writes {
		if w.sessionID == to.sessionID && id != first {
			n.notes[id] = append(n.notes[id], note)
		}
	}
}

// take gives a run its notes.
func (n *neighbours) take(run string) []agent.Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	notes := n.notes[run]
	delete(n.notes, run)
	return notes
}

// remember takes up what a run was told before Oxios stopped.
func (n *neighbours) remember(sessionID string, steps []store.Step) {
	for _, s := range steps {
		var note agent.Note
		if s.Kind == store.StepNote && json.Unmarshal(s.Args, &note) == nil && note.About != "" {
			n.mu.Lock()
			n.told[pairOf(sessionID, note.About)] = true
			n.mu.Unlock()
		}
	}
}

// leave forgets a run that has ended. When it was the last of its conversation
// that wrote, its next one is a new neighbour.
func (n *neighbours) leave(run, sessionID string, last bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.writes, run)
	delete(n.notes, run)
	if !last {
		return
	}
	for p := range n.told {
		if p.a == sessionID || p.b == sessionID {
			delete(n.told, p)
		}
	}
}

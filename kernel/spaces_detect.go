package kernel

import (
	"context"
	"path/filepath"
	"sync"

	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/space"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// topicTexts is how many messages of a space say what it is about.
const topicTexts = 200

// topics is what the conversations of each space are about, as far as it was
// asked.
type topics struct {
	mu    sync.Mutex
	about map[string][]float32 // by the space's id
}

// forget has topics found out anew: something was said in the spaces, or went.
func (t *topics) forget(spaces ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range spaces {
		delete(t.about, id)
	}
}

// reset has all of them found out anew.
func (t *topics) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.about = nil
}

// of returns what a space is about.
func (t *topics) of(id string, texts func() ([]string, error)) ([]float32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, ok := t.about[id]; ok {
		return v, nil
	}
	all, err := texts()
	if err != nil {
		return nil, err
	}
	if t.about == nil {
		t.about = map[string][]float32{}
	}
	t.about[id] = space.About(all)
	return t.about[id], nil
}

// SpaceDetected says which space a message would begin a conversation in.
type SpaceDetected struct {
	Space string  `json:"space"` // its id; "" is the default one
	Name  string  `json:"name"`
	Tag   string  `json:"tag"`
	Why   string  `json:"why"`   // path, word, active, topic, or "" when nothing spoke for one
	Named string  `json:"named"` // the path or the words that told
	Sure  float64 `json:"sure"`  // 0 to 1
}

// Detect says which space a message would begin a conversation in, and why. It
// asks no model and changes nothing.
func (a *SpaceAPI) Detect(ctx context.Context, text, folder string) (SpaceDetected, error) {
	return guard(ctx, a.caller, action{call: "space.detect", resource: "spaces"}, func(ctx context.Context) (SpaceDetected, error) {
		found, err := a.k.detect(ctx, text, folder)
		if err != nil {
			return SpaceDetected{}, err
		}
		s, err := a.k.spaceByID(ctx, found.Space)
		return SpaceDetected{Space: s.ID, Name: s.Name, Tag: spaceTag(s), Why: found.Why, Named: found.Named, Sure: found.Sure}, err
	})
}

func (k *Kernel) detect(ctx context.Context, text, folder string) (space.Found, error) {
	all, err := k.knownSpaces(ctx, "")
	if err != nil {
		return space.Found{}, err
	}
	if folder != "" {
		if folder, err = absolute(folder); err != nil {
			return space.Found{}, err
		}
	}
	active, err := k.activeSpace(ctx)
	if err != nil {
		return space.Found{}, err
	}
	return space.Detect(space.Message{Text: sys.Shorten(text, 20_000), Folder: folder, Home: homeFolder(), Active: active}, all), nil
}

// knownSpaces returns what is known of the spaces that are not archived, and of
// the default one. What they are about leaves one conversation out, unless but
// is "".
func (k *Kernel) knownSpaces(ctx context.Context, but string) ([]space.Space, error) {
	list, err := k.store.Spaces(ctx)
	if err != nil {
		return nil, err
	}
	var out []space.Space
	err = k.store.Read(ctx, func(tx *store.Tx) error {
		words, err := k.store.SpaceWords(tx)
		if err != nil {
			return err
		}
		in := ""
		if but != "" {
			if err := tx.QueryRow("SELECT space FROM sessions WHERE id = ?", but).Scan(&in); err != nil {
				return err
			}
		}
		for _, s := range append(list, SpaceInfo{}) {
			if s.ArchivedAt != nil {
				continue
			}
			known := space.Space{ID: s.ID, Name: s.Name, Paths: s.Paths, Words: s.Words}
			if s.ID != "" {
				known.Folder = k.spaceFolder(s)
			}
			for _, w := range words[s.ID] {
				known.Learned = append(known.Learned, space.Word(w))
			}
			if but != "" && s.ID == in {
				texts, err := k.store.SpaceTexts(tx, s.ID, but, topicTexts)
				if err != nil {
					return err
				}
				known.About = space.About(texts)
			} else if known.About, err = k.topics.of(s.ID, func() ([]string, error) { return k.store.SpaceTexts(tx, s.ID, "", topicTexts) }); err != nil {
				return err
			}
			out = append(out, known)
		}
		return nil
	})
	return out, err
}

// place gives a new conversation its space: the one that its message names,
// else the one that is detected. What the message leaves out is as the space
// has it.
func (k *Kernel) place(ctx context.Context, m Submit, text string, s *Session) error {
	folder := s.Folder
	if folder == k.config.get().workFolder() {
		folder = "" // nobody chose it
	}
	if m.Folder != "" {
		folder = m.Folder
	}
	found := space.Found{Why: space.WhyPerson}
	if m.Space != nil {
		found.Space = *m.Space
	} else {
		var err error
		if found, err = k.detect(ctx, text, folder); err != nil {
			return err
		}
	}
	s.Space, s.SpaceWhy = found.Space, found.Why
	if s.Space == "" {
		return nil
	}
	in, err := k.openSpace(ctx, s.Space)
	if err != nil {
		return err
	}
	if in.Model != "" {
		s.Provider, s.Model = in.Provider, in.Model
	}
	// A guess widens nothing, nor does the active space for a folder that is none of its own.
	foreign := found.Why == space.WhyActive && folder != ""
	if in.Mode != "" && (found.Why != space.WhyTopic && !foreign || narrower(in.Mode, s.Mode)) {
		s.Mode = in.Mode
	}
	if in.Role != "" {
		s.Role = in.Role
	}
	if folder != "" {
		return nil
	}
	s.Folder = k.spaceFolder(in)
	if found.Why == space.WhyPath && in.Folder == "" && isFolder(filepath.FromSlash(found.Named)) {
		s.Folder = filepath.FromSlash(found.Named)
	}
	return k.haveFolder(in, s.Folder)
}

// narrower reports whether a mode asks more often than another.
func narrower(mode, other string) bool {
	rank := map[string]int{string(security.ModeAsk): 0, string(security.ModeGuarded): 1, string(security.ModeAutonomous): 2}
	return rank[mode] < rank[other]
}

// saidIn takes note of a message: what its space is about may be another, and so
// may be what is proposed.
func (k *Kernel) saidIn(ctx context.Context, s Session, isNew bool) {
	k.topics.forget(s.Space)
	if isNew {
		if s.Space != "" {
			did := event.ChangeOf(event.Activated, s.Space, s.Space)
			k.publish(event.SpaceActivated, scope{sessionID: s.ID}, did)
			k.publishSpaces(did) // its conversations are more by one
		}
		return
	}
	proposed, err := k.proposals(ctx, s.ID)
	if err != nil {
		k.log.WarnContext(ctx, "Could not look for another space of a conversation", "session_id", s.ID, "error", err)
	}
	if len(proposed) > 0 {
		k.publishSpaces(event.ChangeOf(event.Proposed, s.Space, each(proposed, func(p SpaceProposal) string { return p.ID })...))
	}
}

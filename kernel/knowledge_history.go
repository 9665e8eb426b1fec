package kernel

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"oxios/kernel/git"
	"oxios/kernel/knowledge"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

const (
	maxVersions    = 100     // of a note that are listed
	maxVersionDiff = 1 << 20 // bytes of a version over which its changed lines are not counted
	minVersionID   = 4       // letters of an id that may stand for it
)

// VaultHistory is how a note was before.
type VaultHistory struct {
	Path string `json:"path"`
	// Kept says that every change is in the history of the vault. Without it, in a
	// folder of the person's, there is only what the undo of agents' runs holds.
	Kept     bool           `json:"kept"`
	Days     int            `json:"days"`     // for which the undo holds it
	Versions []VaultVersion `json:"versions"` // the newest first, at most 100
	More     bool           `json:"more"`     // there are older ones
}

// VaultVersion is a note as it was once.
type VaultVersion struct {
	ID        string    `json:"id"`
	Path      string    `json:"path"` // what it was called
	At        time.Time `json:"at"`
	Size      int64     `json:"size"`                 // bytes
	Added     int       `json:"added"`                // lines, since the version before
	Removed   int       `json:"removed"`              //
	RunID     string    `json:"run_id,omitempty"`     // of the agent that wrote it; "" for the person and other programs
	SessionID string    `json:"session_id,omitempty"` //
	Found     bool      `json:"found,omitempty"`      // it is how an agent found it then; who wrote it before, and when, is not known
	Now       bool      `json:"now,omitempty"`        // it is what stands in the file
}

// VaultText is the text of a version, and what has changed since.
type VaultText struct {
	VaultVersion
	Text     string `json:"text"`
	Encoding string `json:"encoding"`
	Diff     string `json:"diff"` // unified, from it to what stands in the file now; "" when that is the same
}

// past is a version with the way to its bytes.
type past struct {
	VaultVersion
	read func() ([]byte, error)
}

// History returns how a note or another file was before, the newest version first.
// A note that was deleted is named by its path.
func (a *KnowledgeAPI) History(ctx context.Context, name string) (VaultHistory, error) {
	return guard(ctx, a.caller, action{call: "knowledge.history", resource: "vault"}, func(ctx context.Context) (VaultHistory, error) {
		v := a.k.vault()
		path, err := a.onceCalled(ctx, v, name)
		if err != nil {
			return VaultHistory{}, err
		}
		list, more, err := a.versions(ctx, v, path)
		out := VaultHistory{Path: path, Kept: v.log != nil, Days: a.k.config.get().UndoDays, Versions: []VaultVersion{}, More: more}
		if err != nil {
			return out, err
		}
		if len(list) == 0 && hashOf(v.path(path)) == "" {
			return out, errNoVersions(path)
		}
		return out, a.measure(ctx, v, path, list, &out)
	})
}

// Version returns the text of a version; id may be its first letters.
func (a *KnowledgeAPI) Version(ctx context.Context, name, id string) (VaultText, error) {
	return guard(ctx, a.caller, action{call: "knowledge.version", resource: "vault"}, func(ctx context.Context) (VaultText, error) {
		v := a.k.vault()
		path, err := a.onceCalled(ctx, v, name)
		if err != nil {
			return VaultText{}, err
		}
		list, _, err := a.versions(ctx, v, path)
		if err != nil {
			return VaultText{}, err
		}
		at := slices.IndexFunc(list, func(p past) bool {
			return p.ID == id || len(id) >= minVersionID && strings.HasPrefix(p.ID, strings.ToLower(id))
		})
		if at < 0 {
			return VaultText{}, sys.Errorf(sys.CodeNotFound, "%s has no version %s.", path, id).WithHint("Look at its history for the versions that there are.")
		}
		raw, err := list[at].read()
		if err != nil {
			return VaultText{}, errVersion(path, err)
		}
		now, _ := v.Bytes(path)
		if bytes.IndexByte(raw, 0) >= 0 && !strings.EqualFold(path[max(0, len(path)-3):], ".md") {
			return VaultText{}, sys.Errorf(sys.CodeInvalid, "%s is no text, so its versions cannot be shown.", path)
		}
		out := VaultText{VaultVersion: list[at].VaultVersion}
		out.Size, out.Now = int64(len(raw)), now != nil && bytes.Equal(raw, now)
		out.Text, out.Encoding = knowledge.Text(raw)
		if !out.Now {
			text, _ := knowledge.Text(now)
			out.Diff = capDiff(unifiedDiff(path, out.Text, text), maxDiff)
		}
		return out, nil
	})
}

func errNoVersions(path string) error {
	return sys.Errorf(sys.CodeNotFound, "There is no note %s, and the history knows of none.", path).
		WithHint("Look for it in the list of notes, or in the trash.")
}

func errVersion(path string, err error) error {
	return sys.Errorf(sys.CodeUnavailable, "That version of %s is not kept any more, or cannot be read: %w. The note stays as it is.", path, err).
		WithHint("Choose another version.")
}

// onceCalled is the path of a note that is there, or was.
func (a *KnowledgeAPI) onceCalled(ctx context.Context, v *vault, name string) (string, error) {
	if found, err := v.Resolve(ctx, "", name); err == nil {
		return found, nil
	} else if sys.CodeOf(err) != sys.CodeNotFound {
		return "", err
	}
	path := cleanVaultName(name)
	if !fs.ValidPath(path) || path[0] == '.' || strings.Contains(path, "/.") {
		return "", errNoVersions(name)
	}
	if last := path[strings.LastIndexByte(path, '/')+1:]; !strings.Contains(last, ".") {
		path += ".md"
	}
	return path, nil
}

// measure fills in what needs the bytes of the versions.
func (a *KnowledgeAPI) measure(ctx context.Context, v *vault, path string, list []past, out *VaultHistory) error {
	now, _ := v.Bytes(path)
	same := false // a version that is what stands in the file was met
	var newer []byte
	for i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		raw, err := list[i].read()
		if err != nil {
			out.More = true // the undo let go of it, and of all that is older
			break
		}
		if n := len(out.Versions); n > 0 {
			out.Versions[n-1].Added, out.Versions[n-1].Removed = changedLines(raw, newer)
		}
		if i == maxVersions {
			out.More = true
			break
		}
		was := list[i].VaultVersion
		was.Size, was.Now = int64(len(raw)), !same && now != nil && bytes.Equal(raw, now)
		same = same || was.Now
		out.Versions = append(out.Versions, was)
		newer = raw
		if i == len(list)-1 && !was.Found {
			out.Versions[i].Added, _ = changedLines(nil, raw)
		}
	}
	return nil
}

func changedLines(before, after []byte) (added, removed int) {
	if len(before) > maxVersionDiff || len(after) > maxVersionDiff || bytes.IndexByte(after, 0) >= 0 {
		return 0, 0
	}
	return countChanged(string(before), string(after))
}

// versions are those of a file, the newest first: one more than is shown, to
// compare the last one with.
func (a *KnowledgeAPI) versions(ctx context.Context, v *vault, path string) ([]past, bool, error) {
	if v.log == nil {
		list, err := a.undoVersions(ctx, v, path)
		return list, false, err
	}
	a.k.commitVault(ctx, v, nil, path) // what was written a moment ago is a version too
	list, more, err := v.log.Versions(ctx, path, maxVersions+1, movedBy)
	if err != nil {
		return nil, false, err
	}
	sessions := map[string]string{}
	out := make([]past, 0, len(list))
	for _, was := range list {
		p := past{VaultVersion{ID: was.ID, Path: was.Path, At: was.At, RunID: runOf(was.Commit)}, func() ([]byte, error) { return v.log.Content(was) }}
		p.SessionID = a.sessionOf(ctx, p.RunID, sessions)
		out = append(out, p)
	}
	return out, more, nil
}

// sessionOf is the conversation of a run; "" where it was deleted.
func (a *KnowledgeAPI) sessionOf(ctx context.Context, runID string, known map[string]string) string {
	if runID == "" {
		return ""
	}
	if id, ok := known[runID]; ok {
		return id
	}
	if r, err := a.k.run(ctx, runID); err == nil {
		known[runID] = r.SessionID
	}
	return known[runID]
}

// undoVersions are those that the undo of agents' runs holds.
func (a *KnowledgeAPI) undoVersions(ctx context.Context, v *vault, path string) ([]past, error) {
	marks, err := a.k.store.FileMarksOf(ctx, v.path(path))
	if err != nil {
		return nil, err
	}
	sessions := map[string]string{}
	var out []past
	last := ""
	add := func(said string, m store.FileMark, found bool) {
		s, err := undo.Parse(said)
		if err != nil || s.Kind != undo.File || s.Content == "" || s.Content == last {
			return
		}
		last = s.Content
		was := VaultVersion{ID: s.Content, Path: path, At: m.At, Found: found}
		if !found {
			was.RunID, was.SessionID = m.RunID, a.sessionOf(ctx, m.RunID, sessions)
		}
		out = append(out, past{was, func() ([]byte, error) { return a.k.undos.objects.Read(was.ID) }})
	}
	for _, m := range marks {
		add(m.Before, m, true)
		add(m.After, m, false)
	}
	slices.Reverse(out)
	return out[:min(len(out), maxVersions+1)], nil
}

// beginCommit puts what stands in the files of a plan into the history before the
// plan is made, where that is worth a commit of its own: an agent writes, or a file
// gets another name or goes. ends does the same afterwards, and says who did what.
func (k *Kernel) beginCommit(ctx context.Context, v *vault, s scope, plan knowledge.Plan, files []vaultFile) (ends func()) {
	var said, paths []string
	apart := s.runID != ""
	if apart {
		said = append(said, runLine+s.runID)
	}
	for _, step := range plan.Steps {
		if step.Kind == knowledge.StepMove {
			said = append(said, fmt.Sprintf("%s%q %q", movedLine, step.Path, step.To))
		}
		apart = apart || step.Kind != knowledge.StepWrite
	}
	if !apart || v.log == nil {
		return func() {}
	}
	for _, f := range files {
		paths = append(paths, f.path)
	}
	if len(paths) > maxApart {
		paths = []string{"."}
	}
	k.commitVault(ctx, v, nil, paths...)
	return func() { k.commitVault(ctx, v, said, paths...) }
}

// The lines of a commit that say more than that notes changed.
const (
	runLine   = "Run: "
	movedLine = "Moved: "
	maxApart  = 500 // files that a commit names one by one
)

// runOf is the run that made a commit; "" for none.
func runOf(c git.Commit) string {
	for line := range strings.Lines(c.Message) {
		if id, ok := strings.CutPrefix(line, runLine); ok {
			return strings.TrimSpace(id)
		}
	}
	return ""
}

// movedBy is what a file was called before a commit; "" where it did not move it.
func movedBy(c git.Commit, name string) string {
	for line := range strings.Lines(c.Message) {
		rest, ok := strings.CutPrefix(line, movedLine)
		var from, to string
		if _, err := fmt.Sscanf(rest, "%q %q", &from, &to); !ok || err != nil {
			continue
		}
		if name == to {
			return from
		}
		if inside, ok := strings.CutPrefix(name, to+"/"); ok {
			return from + "/" + inside
		}
	}
	return ""
}

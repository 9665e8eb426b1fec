package security

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// PathTrial is a file operation that is tried in a made-up folder ROOT with two
// neighbours that nothing may reach: OUT, which holds a secret, and ROOT-evil.
// In the names $ABS is ROOT and $OUT is OUT, both absolute.
type PathTrial struct {
	Kind   string   `json:"kind"` // fs or string: once; race: while somebody swaps parts of the path
	Op     string   `json:"op"`
	Path   string   `json:"path"`
	FS     []string `json:"fs"` // d/ a folder, f a file, a => b a link, fifo:x, sock:x, hardlink:x => y, or the name of a tree
	Target string   `json:"target"`
}

// What came of a trial.
const (
	TrialDenied  = "deny"      // refused or failed, and nothing happened outside
	TrialInside  = "contained" // it worked, and all that it did stayed inside
	TrialEscaped = "escaped"   // it read or changed something outside
	TrialHung    = "hung"      // it did not come back within a second
)

// TryPath makes the folder of a trial, does the operation with the functions of
// the file tools, looks at the neighbours, and removes everything again. trees
// are lists of files that a trial may name. The error is that of a trial which
// cannot be made; why is that of the operation.
func TryPath(p PathTrial, trees map[string][]string) (result string, why, err error) {
	base, err := os.MkdirTemp("", "oxios-trial-")
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = os.RemoveAll(base) }() //nolint:usetesting // not a test
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return "", nil, err
	}
	tree := pathTree{base, filepath.Join(base, "ROOT"), filepath.Join(base, "OUT")}
	if err := tree.make(p, trees); err != nil {
		return "", nil, err
	}
	r, err := OpenRoot(tree.abs)
	if err != nil {
		return "", nil, err
	}
	defer r.Close() //nolint:errcheck // it was only looked through
	before, err := tree.outside()
	if err != nil {
		return "", nil, err
	}
	times, stop := 1, func() {}
	if p.Kind == "race" {
		times = 300
		if stop, err = tree.swaps(p.Path); err != nil {
			return "", nil, err
		}
		if before, err = tree.outside(); err != nil {
			stop()
			return "", nil, err
		}
	}
	done := make(chan trialEnd, 1)
	go func() {
		var end trialEnd
		for range times {
			var text string
			text, end.why = operate(r, p.Op, tree.expand(p.Path))
			end.leaked = end.leaked || strings.Contains(text, trialSecret) || strings.Contains(text, "root:")
		}
		done <- end
	}()
	var end trialEnd
	select {
	case end = <-done:
		stop()
	case <-time.After(time.Duration(times) * time.Second):
		stop()
		return TrialHung, nil, nil
	}
	after, err := tree.outside()
	switch {
	case err != nil:
		return "", nil, err
	case end.leaked || after != before:
		return TrialEscaped, end.why, nil
	case end.why != nil:
		return TrialDenied, end.why, nil
	}
	return TrialInside, nil, nil
}

type trialEnd struct {
	leaked bool
	why    error
}

const trialSecret = "SECRET"

// pathTree is the folder of a trial and what lies beside it.
type pathTree struct{ base, abs, out string }

// errTrial is a trial that asks for what cannot be made.
var errTrial = errors.New("the trial names what cannot be made")

func (p pathTree) expand(s string) string {
	return strings.NewReplacer("$ABS", p.abs, "$OUT", p.out).Replace(s)
}

func (p pathTree) make(row PathTrial, trees map[string][]string) error {
	for _, dir := range []string{"ROOT", "OUT/sub", "ROOT-evil"} {
		if err := os.MkdirAll(filepath.Join(p.base, dir), 0o700); err != nil {
			return err
		}
	}
	for _, file := range []string{"OUT/secret", "ROOT-evil/secret"} {
		if err := os.WriteFile(filepath.Join(p.base, file), []byte(trialSecret), 0o600); err != nil {
			return err
		}
	}
	var entries []string
	for _, e := range row.FS {
		if more, ok := trees[e]; ok {
			entries = append(entries, more...)
		} else if strings.HasPrefix(e, "@") {
			return fmt.Errorf("%w: there is no tree %q", errTrial, e)
		} else {
			entries = append(entries, e)
		}
	}
	for _, e := range entries {
		if err := p.add(p.expand(e)); err != nil {
			return err
		}
	}
	switch row.Op {
	case "mkdir", "link-to", "rename-to", "create":
		return nil
	}
	if row.Target == "" {
		return nil
	}
	return p.file(row.Target, []byte("inside"))
}

func (p pathTree) file(name string, data []byte) error {
	at := filepath.Join(p.abs, name)
	if !Within(at, p.base) {
		return fmt.Errorf("%w: %q lies outside of it", errTrial, name)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	return os.WriteFile(at, data, 0o600)
}

// add makes one entry. Nothing is made outside the folder of the trial, nor a
// second name for a file there.
func (p pathTree) add(e string) error {
	name, target, isLink := strings.Cut(e, " => ")
	kind, rest, special := strings.Cut(name, ":")
	if special {
		name = rest
	}
	at := filepath.Join(p.abs, name)
	if !Within(at, p.base) {
		return fmt.Errorf("%w: %q lies outside of it", errTrial, name)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	switch {
	case special && kind == "hardlink":
		if !filepath.IsAbs(target) {
			target = filepath.Join(p.abs, target)
		}
		if !Within(filepath.Clean(target), p.base) {
			return fmt.Errorf("%w: %q lies outside of it", errTrial, target)
		}
		return os.Link(target, at)
	case special && (kind == "fifo" || kind == "sock"):
		return makeSpecial(kind, at)
	case isLink:
		return os.Symlink(target, at)
	case strings.HasSuffix(name, "/"):
		return os.MkdirAll(at, 0o700)
	}
	return os.WriteFile(at, nil, 0o600)
}

// outside describes everything beside ROOT.
func (p pathTree) outside() (string, error) {
	var b strings.Builder
	for _, dir := range []string{"OUT", "ROOT-evil"} {
		err := filepath.WalkDir(filepath.Join(p.base, dir), func(at string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			data, _ := os.ReadFile(at) // a folder has none
			fmt.Fprintln(&b, at, info.Mode(), info.ModTime().UnixNano(), linkCount(info), string(data))
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	names, err := os.ReadDir(p.base)
	for _, n := range names {
		fmt.Fprintln(&b, n.Name())
	}
	return b.String(), err
}

// swaps begins to exchange a part of a path with a link to the outside, again
// and again until stop is called.
func (p pathTree) swaps(name string) (stop func(), err error) {
	if err := os.MkdirAll(filepath.Join(p.out, "b/c/d"), 0o700); err != nil {
		return nil, err
	}
	for _, f := range []string{"f", "b/c/d/f"} {
		if err := os.WriteFile(filepath.Join(p.out, f), []byte(trialSecret), 0o600); err != nil {
			return nil, err
		}
	}
	swapped, target := filepath.Join(p.abs, "f"), filepath.Join(p.out, "secret")
	if name != "f" {
		first, _, _ := strings.Cut(name, "/")
		swapped, target = filepath.Join(p.abs, first), p.out
	}
	link, aside := filepath.Join(p.abs, "link"), filepath.Join(p.abs, "aside")
	if err := os.Symlink(target, link); err != nil {
		return nil, err
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
			}
			_ = os.Rename(swapped, aside)
			_ = os.Rename(link, swapped)
			_ = os.Rename(swapped, link)
			_ = os.Rename(aside, swapped)
		}
	}()
	return func() { close(end); <-ended }, nil
}

// operate does what a trial asks for through the helpers of the file tools. It
// returns what it read.
func operate(r *Root, op, p string) (string, error) {
	rel, err := r.Rel(p)
	if err != nil {
		return "", err
	}
	if err := r.MkdirAll("other", 0o700); err != nil && op != "open" {
		return "", err
	}
	if strings.HasSuffix(op, "-to") {
		if err := r.WriteFileAtomic("other/file", []byte("x"), 0o600); err != nil {
			return "", err
		}
	}
	switch op {
	case "open", "copy-from":
		f, _, err := r.OpenRegular(rel)
		if err != nil {
			return "", err
		}
		defer f.Close() //nolint:errcheck // it was only read
		data, err := io.ReadAll(f)
		return string(data), err
	case "create", "copy-to":
		return "", r.WriteFileAtomic(rel, []byte("written"), 0o600)
	case "stat", "watch":
		_, err := r.Stat(rel)
		return "", err
	case "mkdir":
		return "", r.MkdirAll(rel, 0o700)
	case "remove":
		return "", r.Remove(rel)
	case "chmod":
		return "", r.FS().Chmod(rel, 0o640)
	case "chtimes":
		return "", r.FS().Chtimes(rel, time.Unix(1, 0), time.Unix(1, 0))
	case "rename-from":
		return "", r.FS().Rename(rel, "other/renamed")
	case "rename-to":
		return "", r.FS().Rename("other/file", rel)
	case "link-from":
		return "", r.FS().Link(rel, "other/linked")
	case "link-to":
		return "", r.FS().Link("other/file", rel)
	case "glob":
		return "", matchesSeen(r, rel)
	}
	return "", fmt.Errorf("unknown operation %q", op)
}

func matchesSeen(r *Root, pattern string) error {
	matches, err := fs.Glob(r.FS().FS(), pattern)
	if err != nil {
		return err
	}
	if len(matches) == 0 {
		return fs.ErrNotExist
	}
	for _, m := range matches {
		if _, err := r.Stat(m); err != nil {
			return err
		}
	}
	return nil
}

// ReadTrees reads the named trees of a collection of trials.
func ReadTrees(data []byte) (map[string][]string, error) {
	var trees map[string][]string
	if err := json.Unmarshal(data, &trees); err != nil {
		return nil, sys.Errorf(sys.CodeInvalid, "The named trees cannot be read: %w.", err)
	}
	return trees, nil
}

package kernel

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"oxios/kernel/sys"
)

// The bounds of a list of names.
const (
	maxMentions = 200              // that fit, in one answer
	maxNames    = 200_000          // that are looked at in a folder
	maxListing  = 2 * time.Second  // for looking at them
	namesKept   = 30 * time.Second // how long what was seen there is good for
)

// MentionArgs says what a person writes behind an @.
type MentionArgs struct {
	Folder string `json:"folder"` // that the conversation works in; "" is the configured one
	Words  string `json:"words"`  // parts of a path; "" asks for what changed last
}

// Mentions are the files and folders that can be meant, the likeliest first.
type Mentions struct {
	Paths []string `json:"paths"` // below the folder; folders end in a slash
	More  bool     `json:"more"`  // more fit than are listed
	Cut   bool     `json:"cut"`   // the folder is too large: only a part of it was looked at
	Names int      `json:"names"` // how many names were looked at
}

// Mentions finds what a person mentions while they write: files and folders in
// whose path all words stand, their letters in this order. It reads Hangul by
// the keys that type it, so that first consonants, a syllable on the way and
// the wrong keyboard layout find it too. It passes over what
// [ExecAPI.Find] passes over, and ends after 200 paths, 200,000 names or two
// seconds. A face can rank the answer better than that: it knows what is typed.
//
// Without words the folder is looked at anew; with words, what was seen in the
// last half minute is good enough.
func (a *ExecAPI) Mentions(ctx context.Context, in MentionArgs) (Mentions, error) {
	return guard(ctx, a.caller, action{call: "exec.mentions", resource: "file:" + in.Folder, paths: namedPaths(in.Folder)}, func(ctx context.Context) (Mentions, error) {
		configured := a.k.config.get().workFolder()
		folder, err := a.k.usable(cmp.Or(in.Folder, configured))
		if err != nil {
			return Mentions{}, err
		}
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder == configured {
			return Mentions{Paths: []string{}}, nil // its first run makes it
		}
		if folder, err = a.k.checkFolder(folder); err != nil {
			return Mentions{}, err
		}
		words := strings.Fields(in.Words)
		list, cut, err := a.k.names.in(ctx, a.k, folder, len(words) == 0)
		if err != nil {
			return Mentions{}, err
		}
		found := matching(list, words)
		m := Mentions{Paths: []string{}, More: len(found) > maxMentions, Cut: cut, Names: len(list)}
		for _, f := range found[:min(len(found), maxMentions)] {
			m.Paths = append(m.Paths, f.path)
		}
		return m, nil
	})
}

// names is what lies in the folder that was asked about last, so that not every
// key looks at a large one.
type names struct {
	mu     sync.Mutex
	folder string
	list   []named
	cut    bool
	forget *time.Timer
}

// named is a file or a folder as it is looked for.
type named struct {
	path    string
	keys    string // of the path, see [keysOf]
	base    int    // where the keys of its name begin
	changed int64  // nanoseconds since 1970
}

func (n named) folder() bool { return strings.HasSuffix(n.path, "/") }

// in returns the names in a folder, and whether there are more than that.
func (n *names) in(ctx context.Context, k *Kernel, folder string, anew bool) ([]named, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !anew && n.folder == folder {
		return n.list, n.cut, nil
	}
	if err := listable(folder); err != nil {
		return nil, false, err
	}
	s := &search{k: k, place: place{root: folder, rel: ".", folder: folder, inside: true}, folders: true, within: maxListing, shut: k.shutAll()}
	list, cut := []named{}, false
	err := s.walk(ctx, func(name string, d fs.DirEntry, _ func() (fs.File, error)) error {
		if t := d.Type() &^ fs.ModeSymlink; !t.IsRegular() && !t.IsDir() {
			return nil // a pipe, a device
		}
		if cut = len(list) == maxNames; cut {
			return fs.SkipAll
		}
		at := named{path: name, keys: keysOf(name)}
		at.base = strings.LastIndexByte(strings.TrimSuffix(at.keys, "/"), '/') + 1
		if info, err := d.Info(); err == nil {
			at.changed = info.ModTime().UnixNano()
		}
		list = append(list, at)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	n.folder, n.list, n.cut = folder, list, cut || s.timedOut
	if n.forget != nil {
		n.forget.Stop()
	}
	n.forget = time.AfterFunc(namesKept, n.drop)
	return n.list, n.cut, nil
}

func (n *names) drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.folder, n.list = "", nil
}

// listable says why a folder cannot be listed. A walk passes over what it may
// not read, the folder that it begins in too.
func listable(folder string) error {
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err == nil {
		var f *os.File
		if f, err = os.Open(folder); err == nil {
			defer f.Close()
			_, err = f.ReadDir(1)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return sys.Errorf(sys.CodeForbidden, "%s cannot be listed: %w.", shortenHome(folder), err)
	}
	return nil
}

// matching returns what words fit, the likeliest first: by how they fit, then
// what changed last. Without words, files come before folders.
func matching(list []named, words []string) []*named {
	type hit struct {
		*named
		score int
	}
	var hits []hit
	keys := make([]string, len(words))
	for i, w := range words {
		keys[i] = keysOf(w)
	}
next:
	for i := range list {
		n := &list[i]
		h := hit{named: n}
		if len(words) == 0 && !n.folder() {
			h.score = 1
		}
		for i, w := range keys {
			s := n.fits(w)
			if s == 0 {
				continue next
			}
			// The same keys write something else in the other language: what is there as it is typed comes first.
			if hangul(words[i]) && hangul(n.path) || strings.Contains(strings.ToLower(n.path), strings.ToLower(words[i])) {
				s += 10
			}
			h.score += s
		}
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.changed, a.changed), cmp.Compare(a.path, b.path))
	})
	found := make([]*named, len(hits))
	for i, h := range hits {
		found[i] = h.named
	}
	return found
}

// fits says how well the keys of a word fit: 0 not at all, more for the name
// than for the folders above it, most for the beginning of the name.
func (n named) fits(word string) int {
	name := n.keys[n.base:]
	switch at := strings.Index(name, word); {
	case at == 0:
		return 6
	case at > 0 && strings.IndexByte(" -_.", name[at-1]) >= 0:
		return 5
	case at > 0:
		return 4
	case strings.Contains(n.keys, word):
		return 3
	case inOrder(name, word):
		return 2
	case inOrder(n.keys, word):
		return 1
	}
	return 0
}

// inOrder reports whether the letters of word stand in text, in this order.
func inOrder(text, word string) bool {
	for i := range len(word) {
		at := strings.IndexByte(text, word[i])
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}

func hangul(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.Is(unicode.Hangul, r) }) >= 0
}

// The keys of the usual Korean keyboard, in the order of Unicode: first
// consonants, vowels, last consonants, and the letters by themselves.
var (
	firstKeys  = strings.Fields("r r s e e f a q q t t d w w c z x v g")
	vowelKeys  = strings.Fields("k o i o j p u p h hk ho hl y n nj np nl b m ml l")
	lastKeys   = strings.Fields("r r rt s sw sg e f fr fa fq ft fx fv fg a q qt t t d w c z x v g")
	letterKeys = slices.Concat(strings.Fields("r r rt s sw sg e e f fr fa fq ft fx fv fg a q q qt t t d w w c z x v g"), vowelKeys)
)

// keysOf is a text in small letters, Hangul in those that stand on the same
// keys: "wpwn" for 제주, also when it is written in parts, as on a Mac.
func keysOf(s string) string {
	s = strings.ToLower(s)
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x1100 }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if keys := keysOfRune(r); keys != "" {
			b.WriteString(keys)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// keysOfRune is "" for what is not Hangul.
func keysOfRune(r rune) string {
	switch {
	case r >= 0xAC00 && r <= 0xD7A3:
		r -= 0xAC00
		keys := firstKeys[r/588] + vowelKeys[r%588/28]
		if last := r % 28; last > 0 {
			keys += lastKeys[last-1]
		}
		return keys
	case r >= 0x3131 && r <= 0x3163:
		return letterKeys[r-0x3131]
	case r >= 0x1100 && r <= 0x1112:
		return firstKeys[r-0x1100]
	case r >= 0x1161 && r <= 0x1175:
		return vowelKeys[r-0x1161]
	case r >= 0x11A8 && r <= 0x11C2:
		return lastKeys[r-0x11A8]
	}
	return ""
}

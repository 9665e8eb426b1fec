package kernel

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/blake3"
	"golang.org/x/text/unicode/norm"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// WriteArgs says what to write. Missing folders are made.
type WriteArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// EditArgs replaces text in a file. Old must occur exactly once, unless All.
type EditArgs struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all,omitempty"`
}

// FileEffect says what became of a file.
type FileEffect struct {
	Path     string `json:"path"`
	Created  bool   `json:"created"`
	Added    int    `json:"added"`    // lines
	Removed  int    `json:"removed"`  // lines
	Replaced int    `json:"replaced"` // places, of an edit
	Bytes    int64  `json:"bytes"`    // of the file now
	Encoding string `json:"encoding"`
}

// Write writes a whole file, at one moment the old one and at the next the new
// one. A file that exists keeps its mode, its encoding and its line ends, unless
// the content has CRLF itself.
func (a *ExecAPI) Write(ctx context.Context, in WriteArgs) (FileEffect, error) {
	return a.change(ctx, "exec.write", in.Path, in, func(old oldFile) (string, int, error) {
		if lineEnding(old.text) == crlf && !strings.Contains(in.Content, crlf) { // models write LF, whatever the file has
			return withEnding(in.Content, crlf), 0, nil
		}
		return in.Content, 0, nil
	})
}

// Edit replaces text in a file. It keeps encoding, mode and line endings. When
// the text is not there, or there more than once, nothing is changed.
func (a *ExecAPI) Edit(ctx context.Context, in EditArgs) (FileEffect, error) {
	return a.change(ctx, "exec.edit", in.Path, in, func(old oldFile) (string, int, error) {
		if !old.exists {
			return "", 0, sys.Errorf(sys.CodeNotFound, "There is no %s to edit.", in.Path).WithHint("Use write to make it.")
		}
		return replaceText(old, in, a.k.masked)
	})
}

// oldFile is a file before it is changed.
type oldFile struct {
	exists bool
	raw    []byte
	text   string
	enc    textEncoding
	binary bool
	linked bool // it has further names, which may lie outside
	mode   fs.FileMode
	hash   string
}

// newText makes the text of a changed file, and says how many places it
// replaced.
type newText func(oldFile) (text string, replaced int, err error)

// filePlan is a change before it is made.
type filePlan struct {
	old    oldFile
	raw    []byte // the file then
	text   string
	effect FileEffect
	err    error // why it cannot be made
}

func (a *ExecAPI) change(ctx context.Context, call, name string, args any, make newText) (FileEffect, error) {
	p := a.place(name)
	use, plan := useCreate, filePlan{err: p.err}
	if p.err == nil {
		plan = a.k.planChange(p, make)
	}
	if plan.old.exists {
		use = useChange
	}
	act := a.fileAction(call, p, use, struct {
		Path, Before, After string
		Args                any
	}{p.abs, plan.old.hash, contentHash(plan.raw), args})
	switch {
	case act.tier >= security.TierRefuse:
	case plan.old.linked:
		act.effect, act.tier, act.beyond = security.EffectOutside, security.TierAsk, true
	case plan.err != nil && act.effect == security.EffectWrite: // it will fail, so nobody needs to be asked
		act.effect, act.tier = security.EffectRead, security.TierFree
	}
	card := act.card
	act.card = func(r *security.Request) {
		card(r)
		r.Diff = capDiff(unifiedDiff(p.shown, plan.old.text, plan.text), maxCardDiff)
		if plan.old.linked {
			r.Why, r.WhyKO = because("changes a file that has other names, perhaps outside the folder"), "폴더 밖에도 이름이 있을 수 있는 파일을 바꿉니다"
		}
	}
	return guard(ctx, a.caller, act, func(ctx context.Context) (FileEffect, error) {
		// It takes milliseconds: an end of the kernel waits for it, so that nobody has to be told that its outcome is unknown.
		return a.apply(context.WithoutCancel(ctx), p, plan, make)
	})
}

// maxCardDiff is how many bytes of a diff an approval card shows.
const maxCardDiff = 64 << 10

// planChange works out a change without making it.
func (k *Kernel) planChange(p place, make newText) filePlan {
	root, err := p.open()
	if err != nil {
		return filePlan{err: err}
	}
	defer root.Close()
	old, err := k.oldFile(root, p)
	if err != nil {
		return filePlan{old: old, err: err}
	}
	return k.planFrom(p, old, make)
}

func (k *Kernel) planFrom(p place, old oldFile, make newText) filePlan {
	plan := filePlan{old: old}
	plan.text, plan.effect.Replaced, plan.err = make(old)
	if plan.err != nil {
		return plan
	}
	if len(plan.text) > maxFile {
		plan.err = sys.Errorf(sys.CodeTooLarge, "%s would have %s; at most %s are written at once. Nothing was written.", p.shown, sizeText(int64(len(plan.text))), sizeText(maxFile))
		return plan
	}
	if plan.err = k.keepsSecrets(old, plan.text); plan.err != nil {
		return plan
	}
	enc := old.enc
	if enc == "" {
		enc = encUTF8
	}
	if plan.raw, plan.err = enc.encode(plan.text); plan.err != nil {
		return plan
	}
	e := &plan.effect
	e.Path, e.Created, e.Bytes, e.Encoding = p.shown, !old.exists, int64(len(plan.raw)), string(enc)
	e.Added, e.Removed = countChanged(old.text, plan.text)
	return plan
}

// oldFile reads a file that is to be changed. One that does not exist is no
// error.
func (k *Kernel) oldFile(root *security.Root, p place) (oldFile, error) {
	f, info, err := root.OpenRegular(p.rel)
	if sys.CodeOf(err) == sys.CodeNotFound {
		return oldFile{}, nil
	}
	if err != nil {
		return oldFile{exists: true}, k.fileError(root, p, err)
	}
	defer f.Close()
	old := oldFile{exists: true, mode: info.Mode().Perm()}
	if info.Size() > maxFile {
		return old, sys.Errorf(sys.CodeTooLarge, "%s has %s; files over %s are not changed as a whole. Nothing was written.", p.shown, sizeText(info.Size()), sizeText(maxFile)).
			WithHint("Use a command for it.")
	}
	if info.Mode().Perm()&0o222 == 0 {
		return old, sys.Errorf(sys.CodeForbidden, "%s is read-only (mode %#o). Nothing was written.", p.shown, info.Mode().Perm()).
			WithHint("Write another file, or ask the person.")
	}
	if old.raw, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return old, fmt.Errorf("read %s: %w", p.shown, err)
	}
	if old.linked, err = root.HardLinked(p.rel); err != nil {
		return old, err
	}
	old.hash = contentHash(old.raw)
	if old.text, old.enc, err = decodeText(old.raw); err != nil {
		old.text, old.enc, old.binary = "", "", true
	}
	return old, nil
}

func contentHash(b []byte) string {
	sum := blake3.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// keepsSecrets refuses a text in which a secret of the file was replaced by its
// mask: an agent reads files with secrets masked, and would destroy them.
func (k *Kernel) keepsSecrets(old oldFile, text string) error {
	found := security.MarkPattern().FindAllString(text, -1)
	if len(found) == 0 {
		return nil
	}
	read := k.masked(old.text)
	for _, mask := range found {
		if (strings.Contains(read, mask) || strings.HasPrefix(mask, "[redacted:")) && !strings.Contains(old.text, mask) {
			return sys.Errorf(sys.CodeInvalid, "The new content has %s where the file holds a secret, which would be lost. Nothing was written.", mask).
				WithHint("Secrets are masked when a file is read. Use edit on the other lines; the secret stays as it is.")
		}
	}
	return nil
}

// apply makes a change that the guard let through.
func (a *ExecAPI) apply(ctx context.Context, p place, plan filePlan, make newText) (FileEffect, error) {
	if plan.err != nil && plan.old.hash == "" {
		return FileEffect{}, plan.err
	}
	if !approved(ctx) {
		if err := a.held(ctx, []string{p.abs}); err != nil { // it waits only since the guard looked
			return FileEffect{}, err
		}
	}
	defer a.k.commands().lockFile(p.abs)()
	root, err := p.open()
	if err != nil {
		return FileEffect{}, err
	}
	defer root.Close()
	old, err := a.k.oldFile(root, p)
	if err != nil {
		return FileEffect{}, err
	}
	if old.hash != plan.old.hash {
		if approved(ctx) {
			return FileEffect{}, sys.Errorf(sys.CodeConflict, "%s was changed while this waited for the person. Nothing was written.", p.shown).
				WithHint("Read it again.")
		}
		plan = a.k.planFrom(p, old, make) // a call beside this one was quicker
	}
	if plan.err != nil {
		return FileEffect{}, plan.err
	}
	if old.exists && bytes.Equal(old.raw, plan.raw) {
		return plan.effect, nil
	}
	plan.old = old
	if err := a.k.wrote(ctx, a.scope, store.FileLabel{Path: p.abs, Content: contentHash(plan.raw)}); err != nil {
		return FileEffect{}, err
	}
	mark, err := a.k.undos.before(ctx, a.scope, p, root, plan)
	if err != nil {
		return FileEffect{}, err
	}
	if dir := path.Dir(p.rel); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			mark.takeBack(ctx, root)
			return FileEffect{}, err
		}
	}
	write := root.WriteFileAtomic
	if plan.old.linked && (approved(ctx) || a.who.Kind == sys.KindPerson) {
		write = root.WriteFileApart
	}
	if err := write(p.rel, plan.raw, 0o644); err != nil {
		mark.takeBack(ctx, root)
		return FileEffect{}, err
	}
	return plan.effect, errors.Join(mark.settle(ctx, root), a.record(ctx, p, plan))
}

// maxKept is how many bytes of a file are kept on each side of a change.
const maxKept = 1 << 20

// record notes a change for the run that made it.
func (a *ExecAPI) record(ctx context.Context, p place, plan filePlan) error {
	c := store.Change{
		RunID: a.scope.runID, Path: p.abs, Kind: store.ChangeCreated, AfterHash: contentHash(plan.raw),
		BeforeSize: int64(len(plan.old.raw)), AfterSize: int64(len(plan.raw)), Binary: plan.old.binary,
	}
	if plan.old.exists {
		c.Kind = store.ChangeModified
		if len(plan.old.raw) <= maxKept {
			c.Before = slices.Concat([]byte{}, plan.old.raw)
		}
	}
	if len(plan.raw) <= maxKept {
		c.After = slices.Concat([]byte{}, plan.raw)
	}
	return a.addChange(ctx, c, ChangeSummary{
		Path: a.scope.relative(c.Path), Kind: c.Kind, Added: plan.effect.Added, Removed: plan.effect.Removed, Binary: c.Binary,
	})
}

// replaceText makes the text of a file after an edit. What an error shows of
// the file goes through masked.
func replaceText(old oldFile, in EditArgs, masked func(string) string) (string, int, error) {
	switch {
	case in.Old == "":
		return "", 0, sys.Errorf(sys.CodeInvalid, "old is empty. Nothing was changed.").WithHint("Give the text to replace, or use write for the whole file.")
	case in.Old == in.New:
		return "", 0, sys.Errorf(sys.CodeInvalid, "old and new are the same. Nothing was changed.")
	case old.binary:
		return "", 0, sys.Errorf(sys.CodeInvalid, "%s is not a text file. Nothing was changed.", in.Path).WithHint("Use a program that knows this kind of file.")
	case !old.enc.keepsText(old.raw, old.text):
		return "", 0, sys.Errorf(sys.CodeInvalid, "%s has characters that would not be written back as they were (%s). Nothing was changed.", in.Path, old.enc).
			WithHint("Convert it with a command, if the person agrees.")
	}
	from, to := withEndingsOf(old.text, in.Old, in.New)
	n := strings.Count(old.text, from)
	switch {
	case from == to:
		return "", 0, sys.Errorf(sys.CodeInvalid, "old and new differ in their line ends alone, which the file keeps. Nothing was changed.").
			WithHint("Convert the file with a command, if its line ends are to change.")
	case n == 0 && strings.Contains(security.PlainText(old.text), from):
		return "", 0, sys.Errorf(sys.CodeNotFound, "%s has signs there that nobody sees, and that were left out when it was read. Nothing was changed.", in.Path).
			WithHint("Replace the lines around them, or write the whole file.")
	case n == 0:
		return "", 0, sys.Errorf(sys.CodeNotFound, "The text to replace is not in %s. Nothing was changed.", in.Path).WithHint("%s", closest(masked(old.text), in.Old))
	case n > 1 && !in.All:
		return "", 0, sys.Errorf(sys.CodeConflict, "The text to replace is in %s %d times (lines %s). Nothing was changed.", in.Path, n, linesOf(old.text, from)).
			WithHint("Take in more of the lines around the right one, or set all to replace every one.")
	}
	return strings.ReplaceAll(old.text, from, to), n, nil
}

// withEndingsOf returns what an edit replaces, and with what, in the line ends
// that the file has there: models write LF, whatever it has.
func withEndingsOf(text, from, to string) (string, string) {
	endings := []string{lineEnding(text), lf, crlf}
	for _, ending := range endings { // a file may have both kinds
		if f := withEnding(from, ending); strings.Contains(text, f) {
			return f, withEnding(to, ending)
		}
	}
	return withEnding(from, endings[0]), withEnding(to, endings[0])
}

// linesOf lists the first lines in which s begins.
func linesOf(text, s string) string {
	var lines []string
	at := 0
	for len(lines) < 10 {
		i := strings.Index(text[at:], s)
		if i < 0 {
			return strings.Join(lines, ", ")
		}
		at += i
		lines = append(lines, fmt.Sprint(1+strings.Count(text[:at], lf)))
		at += len(s)
	}
	return strings.Join(lines, ", ") + ", …"
}

// plainSigns are what keyboards have in place of signs that look like them.
var plainSigns = strings.NewReplacer(
	"\u00a0", " ", "\u2007", " ", "\u2009", " ", "\u200a", " ", "\u202f", " ", "\u3000", " ",
	"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u2032", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u2033", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2212", "-", "\u2026", "...", "\u00d7", "x",
)

func plainText(s string) string { return plainSigns.Replace(norm.NFC.String(s)) }

// lookalike says where text has old but for signs that only look like its own, as
// a space that does not break.
func lookalike(text, old string) (sys.Words, bool) {
	before, _, ok := strings.Cut(plainText(withEnding(text, lf)), plainText(withEnding(old, lf)))
	if !ok {
		return sys.Words{}, false
	}
	first := 1 + strings.Count(before, lf)
	last := first + strings.Count(strings.TrimSuffix(plainText(withEnding(old, lf)), lf), lf)
	var lines []string
	n := 0
	for line := range strings.Lines(text) {
		if n++; n >= first && n <= last {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	}
	said := strconv.QuoteToASCII(cutText(strings.Join(lines, lf), 300))
	return sys.Say("Line %d has it with other signs that look the same: %s. Write them as they are there (\\u escapes work).", first, said), true
}

// closest says which line of text is most like the first one of old.
func closest(text, old string) sys.Words {
	want := ""
	for line := range strings.Lines(old) {
		if want = strings.TrimSpace(line); want != "" {
			break
		}
	}
	if line, ok := lookalike(text, old); ok {
		return line
	}
	best, at, found, n := 0.5, 0, "", 0
	for line := range strings.Lines(text) {
		n++
		if n > 20000 {
			break
		}
		if s := likeness(want, strings.TrimSpace(cutText(line, maxLine))); s > best {
			best, at, found = s, n, strings.TrimRight(line, "\r\n")
		}
	}
	switch {
	case at == 0:
		return sys.Say("No line in it is like the first one of old. Read the file again.")
	case best == 1:
		return sys.Say("Line %d has the same words, so the difference is in spaces or in the lines after it: %q. Read it again and copy it exactly.", at, cutText(found, 300))
	}
	return sys.Say("The closest is line %d: %q. Read it again and copy it exactly.", at, cutText(found, 300))
}

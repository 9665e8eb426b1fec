package kernel

import (
	"bytes"
	"cmp"
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
	return a.change(ctx, "exec.write", in.Path, in, func(old oldFile) (out madeText, err error) {
		content := in.Content
		if lineEnding(old.text) == crlf && !strings.Contains(content, crlf) { // models write LF, whatever the file has
			content = withEnding(content, crlf)
		}
		r := old.marked.Restore(content, a.lending(old.marked, &out.lent))
		if r.Bad != "" {
			return out, unknownMark(r.Bad, in.Path)
		}
		out.text, out.kept = r.Text, r.Put
		return out, nil
	})
}

// Edit replaces text in a file. It keeps encoding, mode and line endings. When
// the text is not there, or there more than once, nothing is changed.
func (a *ExecAPI) Edit(ctx context.Context, in EditArgs) (FileEffect, error) {
	return a.change(ctx, "exec.edit", in.Path, in, func(old oldFile) (out madeText, err error) {
		if !old.exists {
			return out, sys.Errorf(sys.CodeNotFound, "There is no %s to edit.", in.Path).WithHint("Use write to make it.")
		}
		var lends []lent
		out, err = replaceText(old, in, a.lending(old.marked, &lends))
		out.lent = lends
		return out, err
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
	marked *security.MarkedText // never nil where a text is made of it
}

// madeText is the text of a changed file.
type madeText struct {
	text     string
	replaced int               // places, of an edit
	kept     []security.Secret // where in it secrets are that an agent never saw
	lent     []lent            // those of other files
}

// newText makes the text of a changed file.
type newText func(oldFile) (madeText, error)

// filePlan is a change before it is made.
type filePlan struct {
	old    oldFile
	raw    []byte // the file then
	text   string
	marked *security.MarkedText
	lent   []lent // secrets of other files that come into it
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
	act.asks = act.asks || len(plan.lent) > 0 && plan.err == nil
	card := act.card
	act.card = func(r *security.Request) {
		card(r)
		if plan.marked != nil {
			r.Diff = capDiff(markedDiff(p.shown, plan.old.marked, plan.marked), maxCardDiff)
		}
		if plan.old.linked {
			r.Why, r.WhyKO = because("changes a file that has other names, perhaps outside the folder"), "폴더 밖에도 이름이 있을 수 있는 파일을 바꿉니다"
		}
		tellLent(r, plan.lent, p.shown)
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
	old.marked = k.marked(p.abs, old.text)
	plan := filePlan{old: old}
	made, err := make(old)
	if plan.err = err; err != nil {
		return plan
	}
	plan.text, plan.effect.Replaced, plan.lent = made.text, made.replaced, made.lent
	if len(plan.text) > maxFile {
		plan.err = sys.Errorf(sys.CodeTooLarge, "%s would have %s; at most %s are written at once. Nothing was written.", p.shown, sizeText(int64(len(plan.text))), sizeText(maxFile))
		return plan
	}
	plan.marked = k.marked(p.abs, plan.text)
	if name := plan.marked.Uncovered(made.kept); name != "" {
		plan.err = uncovers(name, p.shown)
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
	if len(plan.lent) > 0 && !approved(ctx) && a.who.Kind == sys.KindAgent {
		return FileEffect{}, sys.Errorf(sys.CodeConflict, "%s was changed while this waited. Nothing was written.", p.shown).WithHint("Read it again.")
	}
	if old.exists && bytes.Equal(old.raw, plan.raw) {
		return plan.effect, nil
	}
	old.marked = plan.old.marked
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

// replaceText makes the text of a file after an edit.
func replaceText(old oldFile, in EditArgs, other func(string) (string, string, bool)) (out madeText, err error) {
	switch {
	case in.Old == "":
		return out, sys.Errorf(sys.CodeInvalid, "old is empty. Nothing was changed.").WithHint("Give the text to replace, or use write for the whole file.")
	case in.Old == in.New:
		return out, sys.Errorf(sys.CodeInvalid, "old and new are the same. Nothing was changed.")
	case old.binary:
		return out, sys.Errorf(sys.CodeInvalid, "%s is not a text file. Nothing was changed.", in.Path).WithHint("Use a program that knows this kind of file.")
	case !old.enc.keepsText(old.raw, old.text):
		return out, sys.Errorf(sys.CodeInvalid, "%s has characters that would not be written back as they were (%s). Nothing was changed.", in.Path, old.enc).
			WithHint("Convert it with a command, if the person agrees.")
	}
	// Ends of lines first: those within a secret are the file's own.
	from, to := withEndingsOf(old.marked.Shown(), in.Old, in.New)
	what, with := old.marked.Restore(from, nil), old.marked.Restore(to, other)
	if bad := cmp.Or(what.Bad, with.Bad); bad != "" {
		return out, unknownMark(bad, in.Path)
	}
	places := old.marked.Places(what)
	switch n := len(places); {
	case from == to:
		return out, sys.Errorf(sys.CodeInvalid, "old and new differ in their line ends alone, which the file keeps. Nothing was changed.").
			WithHint("Convert the file with a command, if its line ends are to change.")
	case n == 0 && strings.Contains(security.PlainText(old.marked.Shown()), from):
		return out, sys.Errorf(sys.CodeNotFound, "%s has signs there that nobody sees, and that were left out when it was read. Nothing was changed.", in.Path).
			WithHint("Replace the lines around them, or write the whole file.")
	case n == 0:
		return out, sys.Errorf(sys.CodeNotFound, "The text to replace is not in %s. Nothing was changed.", in.Path).WithHint("%s", closest(old.marked.Shown(), in.Old))
	case n > 1 && !in.All:
		return out, sys.Errorf(sys.CodeConflict, "The text to replace is in %s %d times (lines %s). Nothing was changed.", in.Path, n, linesOf(old.marked, places)).
			WithHint("Take in more of the lines around the right one, or set all to replace every one.")
	}
	var text strings.Builder
	end := 0
	for _, at := range places {
		out.kept = append(out.kept, old.marked.Within(end, at, text.Len()-end)...)
		text.WriteString(old.text[end:at])
		for _, p := range with.Put {
			out.kept = append(out.kept, security.Secret{From: text.Len() + p.From, To: text.Len() + p.To, Name: p.Name})
		}
		text.WriteString(with.Text)
		end = at + len(what.Text)
	}
	out.kept = append(out.kept, old.marked.Within(end, len(old.text), text.Len()-end)...)
	text.WriteString(old.text[end:])
	out.text, out.replaced = text.String(), len(places)
	return out, nil
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

// linesOf lists the first of the lines in which places are.
func linesOf(text *security.MarkedText, places []int) string {
	var lines []string
	for _, at := range places {
		if len(lines) == 10 {
			return strings.Join(lines, ", ") + ", …"
		}
		lines = append(lines, fmt.Sprint(text.Line(at)))
	}
	return strings.Join(lines, ", ")
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

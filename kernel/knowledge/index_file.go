package knowledge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/zeebo/blake3"
)

// indexName is the file in State with what is known of the notes. It is a copy:
// a fault in it, or another format, means that the notes are read again.
const (
	indexName   = "index"
	indexFormat = "oxios-vault-index-2"
)

// save writes the index down when it changed. It is not flushed: a power cut may
// cost it, and nothing else.
func (v *Vault) save() error {
	if !v.loaded.Load() || !v.dirty.Swap(false) {
		return nil
	}
	v.mu.RLock()
	raw := v.ix.encode(v.dir)
	v.mu.RUnlock()
	name := filepath.Join(v.opt.State, indexName)
	err := os.WriteFile(name+".tmp", raw, 0o600)
	if err == nil {
		err = os.Rename(name+".tmp", name)
	}
	if err != nil {
		v.dirty.Store(true)
		return errState(v.opt.State, err)
	}
	return nil
}

// load takes up the index that was saved. The caller compares it with the disk.
func (v *Vault) load() {
	v.mu.RLock()
	known := len(v.ix.files)
	v.mu.RUnlock()
	if known > 0 { // an earlier walk got so far
		return
	}
	raw, err := os.ReadFile(filepath.Join(v.opt.State, indexName))
	if err != nil {
		if !isMissing(err) {
			v.log.Warn("Index of the vault could not be read and is built again", "error", err)
		}
		return
	}
	ix, err := decodeIndex(raw, v.dir)
	if err != nil {
		v.log.Warn("Index of the vault is damaged or old and is built again", "error", err)
		return
	}
	v.mu.Lock()
	v.ix = ix
	v.mu.Unlock()
}

// encoder writes numbers and texts one after the other.
type encoder struct{ b []byte }

func (e *encoder) num(n int)     { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) i64(n int64)   { e.b = binary.AppendVarint(e.b, n) }
func (e *encoder) text(s string) { e.num(len(s)); e.b = append(e.b, s...) }
func (e *encoder) texts(s []string) {
	e.num(len(s))
	for _, s := range s {
		e.text(s)
	}
}

func (e *encoder) flags(flags ...bool) {
	n := 0
	for i, f := range flags {
		if f {
			n |= 1 << i
		}
	}
	e.num(n)
}

// decoder reads them. After the first fault it gives zeros.
type decoder struct {
	b   []byte
	all string // b from its start, as one string that the texts are parts of
	bad bool
}

func (d *decoder) num() int {
	n, size := binary.Uvarint(d.b)
	if size <= 0 || n > 1<<40 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[size:]
	return int(n)
}

func (d *decoder) i64() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

// count is a number of things of which each takes a byte at least.
func (d *decoder) count() int {
	n := d.num()
	if n > len(d.b) {
		d.bad, d.b = true, nil
		return 0
	}
	return n
}

func (d *decoder) text() string {
	n := d.count()
	at := len(d.all) - len(d.b)
	s := d.all[at : at+n]
	d.b = d.b[n:]
	return s
}

func (d *decoder) texts() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = d.text()
	}
	return out
}

func (ix *index) encode(dir string) []byte {
	e := encoder{make([]byte, 0, 1<<20)}
	e.text(indexFormat)
	e.text(dir)
	all := make([]*file, 0, len(ix.files))
	number := make([]int, len(ix.docs)) // the documents without gaps, from 1
	n := 0
	for d, f := range ix.docs {
		if f != nil {
			n++
			number[d] = n
			all = append(all, f)
		}
	}
	e.num(n)
	for _, f := range ix.files {
		if !f.note || f.large {
			all = append(all, f)
		}
	}
	e.num(len(all))
	for _, f := range all {
		e.file(f)
	}
	for d, f := range ix.docs {
		if f != nil {
			e.num(int(ix.length[d]))
		}
	}
	// Names first and numbers after them: what is read back keeps the names' part
	// in memory as it is.
	var numbers encoder
	used := 0
	for _, posts := range ix.posts {
		if slices.ContainsFunc(posts, func(p uint32) bool { return number[p>>8] > 0 }) {
			used++
		}
	}
	e.num(used)
	for t, posts := range ix.posts {
		live := 0
		for _, p := range posts {
			if number[p>>8] > 0 {
				live++
			}
		}
		if live == 0 {
			continue
		}
		e.text(ix.names[t])
		numbers.num(live)
		last := 0
		for _, p := range posts {
			if d := number[p>>8]; d > 0 {
				if w := p & 0xFF; w == 1 { // the commonest weight is told by the lowest bit
					numbers.num((d-last)<<1 | 1)
				} else {
					numbers.num((d - last) << 1)
					numbers.b = append(numbers.b, byte(w))
				}
				last = d
			}
		}
	}
	names := len(e.b)
	e.b = append(e.b, numbers.b...)
	e.b = binary.LittleEndian.AppendUint64(e.b, uint64(names))
	sum := blake3.Sum256(e.b)
	return append(e.b, sum[:]...)
}

func (e *encoder) file(f *file) {
	e.text(f.path)
	if f.disk == f.path {
		e.text("")
	} else {
		e.text(f.disk)
	}
	e.num(int(f.size))
	e.i64(f.mtime)
	e.flags(f.racy, f.note, f.large)
	if !f.note || f.large {
		return
	}
	e.b = append(e.b, f.hash[:]...)
	e.text(f.title)
	e.text(f.encoding)
	e.text(f.fault.EN)
	e.text(f.fault.KO)
	e.texts(f.aliases)
	e.texts(f.tags)
	e.num(len(f.headings))
	for _, h := range f.headings {
		e.num(h.Level)
		e.num(h.Line)
		e.text(h.Text)
	}
	e.num(len(f.links))
	for i := range f.links {
		l := &f.links[i]
		e.text(l.Target)
		e.text(l.Fragment)
		e.text(l.Alias)
		e.num(l.Line)
		same := i > 0 && f.links[i-1].Line == l.Line && f.links[i-1].text == l.text
		e.flags(l.Markdown, l.Embed, same)
		if !same {
			e.text(l.text)
		}
		e.text(l.key)
	}
	e.num(len(f.tasks))
	for _, t := range f.tasks {
		e.num(t.Line)
		e.flags(t.Done)
		e.text(t.Text)
		e.text(t.Mark)
		e.text(t.Due)
		e.texts(t.Tags)
	}
}

func (d *decoder) file() *file {
	f := &file{path: d.text(), disk: d.text(), size: int64(d.num()), mtime: d.i64()}
	if f.disk == "" {
		f.disk = f.path
	}
	flags := d.num()
	f.racy, f.note, f.large = flags&1 != 0, flags&2 != 0, flags&4 != 0
	if !f.note || f.large {
		f.title = ""
		return f
	}
	if len(d.b) < len(f.hash) {
		d.bad = true
		return f
	}
	d.b = d.b[copy(f.hash[:], d.b):]
	f.title, f.encoding, f.fault.EN, f.fault.KO, f.aliases, f.tags = d.text(), d.text(), d.text(), d.text(), d.texts(), d.texts()
	if n := d.count(); n > 0 {
		f.headings = make([]Heading, n)
		for i := range f.headings {
			f.headings[i] = Heading{Level: d.num(), Line: d.num(), Text: d.text()}
		}
	}
	if n := d.count(); n > 0 {
		f.links = make([]indexedLink, n)
		for i := range f.links {
			l := &f.links[i]
			l.Target, l.Fragment, l.Alias, l.Line = d.text(), d.text(), d.text(), d.num()
			flags := d.num()
			l.Markdown, l.Embed = flags&1 != 0, flags&2 != 0
			if flags&4 != 0 && i > 0 {
				l.text = f.links[i-1].text
			} else {
				l.text = d.text()
			}
			l.key = d.text()
		}
	}
	if n := d.count(); n > 0 {
		f.tasks = make([]Task, n)
		for i := range f.tasks {
			f.tasks[i] = Task{Path: f.path, Line: d.num(), Done: d.num() == 1, Text: d.text(), Mark: d.text(), Due: d.text(), Tags: d.texts()}
		}
	}
	return f
}

var errIndexFile = errors.New("the file is damaged, of another format, or of another folder")

func decodeIndex(raw []byte, dir string) (*index, error) {
	at := len(raw) - 32
	if at < 8 {
		return nil, errIndexFile
	}
	if sum := blake3.Sum256(raw[:at]); !bytes.Equal(sum[:], raw[at:]) {
		return nil, errIndexFile
	}
	at -= 8
	names := int(binary.LittleEndian.Uint64(raw[at:]) & (1<<40 - 1))
	if names > at {
		return nil, errIndexFile
	}
	d := decoder{b: raw[:names], all: string(raw[:names])}
	numbers := decoder{b: raw[names:at]}
	if d.text() != indexFormat || d.text() != dir {
		return nil, errIndexFile
	}
	ix := newIndex()
	docs := d.num()
	n := d.count()
	for i := range n {
		f := d.file()
		if d.bad || f.path == "" {
			return nil, errIndexFile
		}
		if i >= docs && f.note && !f.large || i < docs && (!f.note || f.large) {
			return nil, errIndexFile
		}
		if f.large {
			f.title = stem(path.Base(f.path))
		}
		f.ease()
		ix.put(f, nil, nil, 0)
	}
	for i := range docs {
		length := d.num()
		ix.length[i] = float32(length)
		ix.total += float64(length)
	}
	count := d.count()
	ix.terms = make(map[string]uint32, count+count/4)
	ix.names, ix.posts = make([]string, 0, count), make([][]uint32, 0, count)
	for range count {
		t := ix.term(d.text())
		posts := make([]uint32, numbers.count())
		doc := 0
		for i := range posts {
			step := numbers.num()
			weight := 1
			if step&1 == 0 {
				if len(numbers.b) == 0 {
					return nil, errIndexFile
				}
				weight, numbers.b = int(numbers.b[0]), numbers.b[1:]
			}
			doc += step >> 1
			if doc < 1 || doc > docs {
				return nil, errIndexFile
			}
			posts[i] = uint32(doc-1)<<8 | uint32(weight)
		}
		ix.posts[t] = posts
	}
	if d.bad || numbers.bad || len(d.b)+len(numbers.b) > 0 {
		return nil, errIndexFile
	}
	ix.sort(0)
	return ix, nil
}

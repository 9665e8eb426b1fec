package knowledge

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/blake3"

	"oxios/kernel/sys"
)

// reading is a file that was read, on its way into the index.
type reading struct {
	file    *file
	weights []uint32
	length  int
	names   []string // of the counter, as far as weights need them
	counter *counter
}

// readAll reads files side by side and hands each to take, one at a time.
func (v *Vault) readAll(ctx context.Context, found []pending, take func(reading)) error {
	if len(found) == 0 {
		return nil
	}
	root, err := v.root()
	if err != nil {
		return err
	}
	defer root.Close()
	workers := min(runtime.GOMAXPROCS(0), (len(found)+15)/16)
	if workers == 1 {
		c := newCounter()
		for _, p := range found {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r, ok := v.readOne(root, p, c); ok {
				take(r)
			}
		}
		return nil
	}
	out := make(chan reading, 256)
	work := make(chan []pending)
	go func() {
		defer close(work)
		for part := range slices.Chunk(found, 64) {
			select {
			case work <- part:
			case <-ctx.Done():
				return
			}
		}
	}()
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			c := newCounter()
			for part := range work {
				for _, p := range part {
					if r, ok := v.readOne(root, p, c); ok {
						out <- r
					}
				}
			}
		})
	}
	go func() {
		group.Wait()
		close(out)
	}()
	for r := range out {
		take(r)
	}
	return ctx.Err()
}

// readOne reads one file for the index. A file that cannot be read is left out
// until it can be.
func (v *Vault) readOne(root *os.Root, p pending, c *counter) (reading, bool) {
	f := &file{path: p.path, disk: p.disk, note: isNote(p.path)}
	if f.note && p.info.Size() <= maxNote {
		raw, info, err := v.readFound(root, p)
		if err != nil {
			if !isMissing(err) {
				v.log.Warn("Note could not be read", "path", p.path, "error", err)
			}
			return reading{}, false
		}
		p.info = info
		f.hash = blake3.Sum256(raw)
		fill(f, raw, c)
	} else {
		f.large = f.note
		if f.note {
			f.title = stem(path.Base(f.path))
		}
	}
	f.size, f.mtime = p.info.Size(), p.info.ModTime().UnixNano()
	age := time.Since(p.info.ModTime())
	f.racy = f.note && age < racyFor && age > -racyFor
	f.ease()
	weights, length := c.take()
	return reading{f, weights, length, c.names, c}, true
}

// readFound reads a file that a walk met. One that is a file itself, in folders
// that are none but folders, needs no second look at where its path leads.
func (v *Vault) readFound(root *os.Root, p pending) ([]byte, fs.FileInfo, error) {
	if !p.plain {
		return readIn(root, p.disk, maxNote)
	}
	f, info, err := sys.OpenRegular(v.dir + string(filepath.Separator) + filepath.FromSlash(p.disk))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if !os.SameFile(info, p.info) || info.Size() > maxNote {
		return readIn(root, p.disk, maxNote)
	}
	raw := make([]byte, info.Size()+1)
	n, err := io.ReadFull(f, raw)
	if err == nil { // it grew since
		return readIn(root, p.disk, maxNote)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return raw[:n], info, nil
}

// fill reads what a note says into f, and counts its words.
func fill(f *file, raw []byte, c *counter) {
	text, encoding, _ := decode(raw)
	whole := string(text)
	facts := factsOf(f.path, whole)
	f.title, f.aliases, f.tags, f.encoding, f.fault = facts.title, facts.aliases, facts.tags, encoding, facts.fault
	f.headings, f.tasks = facts.headings, facts.tasks
	if len(facts.links) > 0 {
		f.links = make([]indexedLink, len(facts.links))
		for i, l := range facts.links {
			f.links[i] = indexedLink{l, lineAt(whole, l.start)}
			if i > 0 && f.links[i-1].Line == l.Line {
				f.links[i].text = f.links[i-1].text
			}
			// Parts of the text would keep the whole of it in memory.
			f.links[i].Target, f.links[i].Fragment, f.links[i].Alias = strings.Clone(l.Target), strings.Clone(l.Fragment), strings.Clone(l.Alias)
			f.links[i].key = strings.Clone(l.key)
		}
	}
	for i := range f.headings {
		f.headings[i].Text = strings.Clone(f.headings[i].Text)
		c.add([]byte(f.headings[i].Text), weightHeading-weightText)
	}
	for i := range f.tasks {
		t := &f.tasks[i]
		t.Text, t.Mark, t.Due = strings.Clone(t.Text), strings.Clone(t.Mark), strings.Clone(t.Due)
		for j := range t.Tags {
			t.Tags[j] = strings.Clone(t.Tags[j])
		}
	}
	f.title = strings.Clone(f.title)
	for i := range f.tags {
		f.tags[i] = strings.Clone(f.tags[i])
	}
	for i := range f.aliases {
		f.aliases[i] = strings.Clone(f.aliases[i])
	}
	for _, name := range append([]string{f.title, stem(path.Base(f.path))}, f.aliases...) {
		c.add([]byte(name), weightTitle)
	}
	c.add(text, weightText)
}

// lineAt returns the line around a place, shortened to 200 bytes.
func lineAt(text string, at int) string {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	to := strings.IndexByte(text[at:], '\n')
	if to < 0 {
		to = len(text) - at
	}
	line := strings.TrimSpace(text[from : at+to])
	if len(line) > 200 {
		return cut(line, at-from)
	}
	return strings.Clone(line)
}

// take puts a reading into the index. The caller holds mu.
func (v *Vault) take(r reading) {
	if old := v.ix.files[r.file.path]; old != nil {
		v.texts.drop(old)
	}
	c := r.counter
	if n := len(r.names); len(c.global) < n {
		c.global = append(c.global, make([]uint32, n-len(c.global))...)
	}
	v.ix.put(r.file, r.weights, func(t uint32) uint32 {
		if c.global[t] == 0 {
			c.global[t] = v.ix.term(r.names[t]) + 1
		}
		return c.global[t] - 1
	}, r.length)
}

// refresh reads paths anew, each a file or nothing, and tells of those that
// changed.
func (v *Vault) refresh(ctx context.Context, paths []string) error {
	root, err := v.root()
	if err != nil {
		return err
	}
	defer root.Close()
	var changed []string
	c := newCounter()
	for _, p := range paths {
		disk, _ := onDisk(root, p)
		info, err := root.Stat(disk)
		if err == nil && info.Mode().IsRegular() {
			v.mu.RLock()
			old := v.ix.files[p]
			same := old != nil && old.disk == disk && old.size == info.Size() && old.mtime == info.ModTime().UnixNano() && !old.racy
			v.mu.RUnlock()
			if same {
				continue
			}
			if r, ok := v.readOne(root, pending{disk, p, info, false}, c); ok {
				v.mu.Lock()
				old := v.ix.files[p]
				if old == nil || old.hash != r.file.hash || old.size != r.file.size || !r.file.note && old.mtime != r.file.mtime || old.disk != disk {
					v.take(r)
					changed = append(changed, p)
				} else {
					old.mtime, old.racy = r.file.mtime, r.file.racy
				}
				v.mu.Unlock()
			}
			continue
		}
		if err != nil && !isMissing(err) && !isEscape(err) {
			continue
		}
		v.mu.Lock()
		if old := v.ix.files[p]; old != nil {
			v.texts.drop(old)
			v.ix.remove(old)
			changed = append(changed, p)
		}
		v.mu.Unlock()
	}
	v.mu.Lock()
	v.ix.sort(4096)
	v.mu.Unlock()
	v.tell(changed)
	return ctx.Err()
}

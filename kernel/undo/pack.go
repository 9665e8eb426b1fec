package undo

import (
	"bytes"
	"compress/zlib"
	"crypto"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	githash "github.com/go-git/go-git/v5/plumbing/hash"
)

// Many contents at once are written as a pack of git: one file that is made
// durable once, where each loose object costs two flushes of the disk.

// pack is a pack file and what it holds.
type pack struct {
	path string // without its ending
	ids  []string
}

// place is where content lies in a pack.
type place struct {
	pack   *pack
	offset int64
}

// Batch gathers content that becomes durable together.
type Batch struct {
	o     *Objects
	body  bytes.Buffer
	items []packItem
	has   map[string]bool
	z     *zlib.Writer
}

type packItem struct {
	id     string
	offset int64 // in the pack
	crc    uint32
}

// maxBatch is how many bytes of a pack are gathered before it is written.
const maxBatch = 32 << 20

const packHead = 12

// Batch begins a batch.
func (o *Objects) Batch() *Batch { return &Batch{o: o, has: map[string]bool{}} }

// Put gathers content and returns its id. It is durable after [Batch.Close].
func (b *Batch) Put(content []byte) (string, error) {
	id := ID(content)
	if b.has[id] {
		return id, nil
	}
	if has, err := b.o.Has(id); has || err != nil {
		return id, err
	}
	if b.z == nil {
		z, err := zlib.NewWriterLevel(&b.body, zlib.BestSpeed)
		if err != nil {
			return "", err
		}
		b.z = z
	}
	start := b.body.Len()
	b.body.Write(packedSize(len(content)))
	b.z.Reset(&b.body)
	if _, err := b.z.Write(content); err != nil {
		return "", err
	}
	if err := b.z.Close(); err != nil {
		return "", err
	}
	b.has[id] = true
	b.items = append(b.items, packItem{id, packHead + int64(start), crc32.ChecksumIEEE(b.body.Bytes()[start:])})
	if b.body.Len() > maxBatch {
		return id, b.Close()
	}
	return id, nil
}

// packedSize is the head of a blob in a pack: its kind and its size.
func packedSize(n int) []byte {
	out := []byte{byte(3<<4 | n&15)}
	for n >>= 4; n > 0; n >>= 7 {
		out[len(out)-1] |= 0x80
		out = append(out, byte(n&0x7f))
	}
	return out
}

// Close makes what was gathered durable. The batch is empty then and may go on.
func (b *Batch) Close() error {
	if len(b.items) == 0 {
		return nil
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("PACK"), 2), uint32(len(b.items)))
	sum := githash.New(crypto.SHA1)
	sum.Write(head)
	sum.Write(b.body.Bytes())
	end := sum.Sum(nil)
	slices.SortFunc(b.items, func(x, y packItem) int { return strings.Compare(x.id, y.id) })
	index, err := packIndex(b.items, end)
	if err != nil {
		return err
	}
	base := filepath.Join(b.o.dir, "objects", "pack", "pack-"+hex.EncodeToString(end))
	if err := b.o.writeDurable(base+".pack", slices.Concat(head, b.body.Bytes(), end)); err != nil {
		return fmt.Errorf("keep content: %w", err)
	}
	if err := b.o.writeDurable(base+".idx", index); err != nil {
		return fmt.Errorf("keep content: %w", err)
	}
	b.o.mu.Lock()
	b.o.addPack(base, b.items)
	b.o.mu.Unlock()
	b.items, b.has = nil, map[string]bool{}
	b.body.Reset()
	return nil
}

// addPack takes note of a pack. The caller holds the lock.
func (o *Objects) addPack(base string, items []packItem) {
	p := &pack{path: base}
	for _, it := range items {
		p.ids = append(p.ids, it.id)
		o.known[it.id] = place{p, it.offset}
	}
	o.packs = append(o.packs, p)
}

// packIndex is the second version of git's index of a pack.
func packIndex(items []packItem, packSum []byte) ([]byte, error) {
	out := []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}
	var fan [256]uint32
	var ids, crcs, offsets []byte
	for _, it := range items {
		id, err := hex.DecodeString(it.id)
		if err != nil {
			return nil, err
		}
		for i := int(id[0]); i < 256; i++ {
			fan[i]++
		}
		ids = append(ids, id...)
		crcs = binary.BigEndian.AppendUint32(crcs, it.crc)
		offsets = binary.BigEndian.AppendUint32(offsets, uint32(it.offset)) // below 2^31: a batch is small
	}
	for _, n := range fan {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	out = slices.Concat(out, ids, crcs, offsets, packSum)
	sum := githash.New(crypto.SHA1)
	sum.Write(out)
	return append(out, sum.Sum(nil)...), nil
}

// readPacks learns what the packs on the disk hold. A pack without its index was
// cut off by a crash and is removed. The caller holds the lock.
func (o *Objects) readPacks() error {
	dir := filepath.Join(o.dir, "objects", "pack")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	o.packs = nil
	for name := range names {
		path := filepath.Join(dir, name)
		switch {
		case strings.HasSuffix(name, ".pack") && !names[strings.TrimSuffix(name, ".pack")+".idx"]:
			_ = os.Remove(path)
		case strings.HasSuffix(name, ".idx") && names[strings.TrimSuffix(name, ".idx")+".pack"]:
			items, err := readIndex(path)
			if err != nil {
				return err
			}
			o.addPack(strings.TrimSuffix(path, ".idx"), items)
		}
	}
	return nil
}

func readIndex(path string) ([]packItem, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	damaged := fmt.Errorf("%s is damaged", path)
	if len(raw) < 8+1024+40 || !bytes.HasPrefix(raw, []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) {
		return nil, damaged
	}
	sum := githash.New(crypto.SHA1)
	sum.Write(raw[:len(raw)-20])
	n := int(binary.BigEndian.Uint32(raw[8+1020:]))
	if !bytes.Equal(sum.Sum(nil), raw[len(raw)-20:]) || len(raw) != 8+1024+n*28+40 {
		return nil, damaged
	}
	items := make([]packItem, n)
	ids, offsets := raw[8+1024:], raw[8+1024+n*24:]
	for i := range items {
		items[i] = packItem{id: hex.EncodeToString(ids[i*20 : i*20+20]), offset: int64(binary.BigEndian.Uint32(offsets[i*4:]))}
	}
	return items, nil
}

// open reads content of a pack.
func (p place) open(id string) (io.ReadCloser, error) {
	f, err := os.Open(p.pack.path + ".pack")
	if err != nil {
		return nil, err
	}
	r, err := p.read(f, id)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read %s of the undo store: %w", id, err)
	}
	return r, nil
}

func (p place) read(f *os.File, id string) (io.ReadCloser, error) {
	in := io.NewSectionReader(f, p.offset, 1<<40)
	var b [1]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return nil, err
	}
	if b[0]>>4&7 != 3 {
		return nil, errors.New("no content")
	}
	size, shift := int64(b[0]&15), 4
	for b[0]&0x80 != 0 && shift < 63 {
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return nil, err
		}
		size |= int64(b[0]&0x7f) << shift
		shift += 7
	}
	z, err := zlib.NewReader(in)
	if err != nil {
		return nil, err
	}
	return &checked{r: io.LimitReader(z, size), h: newHash(kindBlob, size), id: id, close: f.Close}, nil
}

// clearPacks removes the packs of which nothing is kept, and writes those anew
// of which a part is. The caller holds the lock.
func (o *Objects) clearPacks(keep map[string]bool) error {
	for _, p := range slices.Clone(o.packs) {
		var stays []string
		for _, id := range p.ids {
			if keep[id] {
				stays = append(stays, id)
			}
		}
		if len(stays) == len(p.ids) {
			continue
		}
		if err := o.rewrite(p, stays); err != nil {
			return err
		}
	}
	return nil
}

func (o *Objects) rewrite(p *pack, stays []string) error {
	at := maps.Clone(o.known)
	for _, id := range p.ids {
		if o.known[id].pack == p {
			delete(o.known, id)
		}
	}
	o.packs = slices.DeleteFunc(o.packs, func(other *pack) bool { return other == p })
	b := o.Batch()
	for _, id := range stays {
		err := func() error {
			r, err := place{p, at[id].offset}.open(id)
			if err != nil {
				return err
			}
			defer r.Close()
			raw, err := io.ReadAll(r)
			if err != nil {
				return err
			}
			o.mu.Unlock() // a batch takes the lock by itself; nobody else writes now
			_, err = b.Put(raw)
			o.mu.Lock()
			return err
		}()
		if err != nil {
			o.made = false // what is there is read anew
			return err
		}
	}
	o.mu.Unlock()
	err := b.Close()
	o.mu.Lock()
	if err != nil {
		o.made = false
		return err
	}
	if slices.ContainsFunc(o.packs, func(other *pack) bool { return other.path == p.path }) {
		return nil
	}
	// The index first: without it nothing of the pack counts.
	for _, end := range []string{".idx", ".pack"} {
		if err := os.Remove(p.path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

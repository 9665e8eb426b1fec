package knowledge

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/zeebo/blake3"

	"oxios/kernel/sys"
)

// Note is one note as it stands in its file.
type Note struct {
	Path     string    `json:"path"`
	Title    string    `json:"title"` // from the frontmatter, else the name of the file
	Text     string    `json:"text"`  // with \n at the line ends, unless the file mixes them
	Hash     string    `json:"hash"`  // BLAKE3 of the bytes of the file, in hex: the base of a change
	Modified time.Time `json:"modified"`

	Frontmatter      map[string]any `json:"frontmatter,omitempty"`
	FrontmatterError sys.Words      `json:"frontmatter_error,omitzero"` // what is wrong with it; the note can be read and edited
	Tags             []string       `json:"tags,omitempty"`             // of frontmatter and text, without #
	Aliases          []string       `json:"aliases,omitempty"`
	Headings         []Heading      `json:"headings,omitempty"`
	Links            []Link         `json:"links,omitempty"`
	Tasks            []Task         `json:"tasks,omitempty"`
	Words            int            `json:"words"`
	Encoding         string         `json:"encoding"` // "UTF-8"; any other is shown and cannot be changed
	Provenance       *Provenance    `json:"provenance,omitempty"`
}

// Text returns the bytes of a file as a note shows them, and how they are written.
func Text(raw []byte) (text, encoding string) {
	plain, encoding, _ := decode(raw)
	if onlyCRLF(plain) {
		plain = bytes.ReplaceAll(plain, []byte("\r\n"), []byte("\n"))
	}
	return string(plain), encoding
}

// Read returns a note. An alias or a name without its folder is no path: see
// [Vault.Resolve].
func (v *Vault) Read(ctx context.Context, name string) (Note, error) {
	p, err := cleanNote(name)
	if err != nil {
		return Note{}, err
	}
	if err := v.ready(ctx); err != nil {
		return Note{}, err
	}
	raw, info, err := v.bytes(p, maxNote)
	if err != nil {
		return Note{}, err
	}
	text, encoding := Text(raw)
	n := Note{Path: p, Text: text, Hash: hashOf(raw), Modified: info.ModTime(), Encoding: encoding, Words: len(strings.Fields(text))}
	f := factsOf(p, n.Text)
	n.Title, n.Tags, n.Aliases, n.Headings, n.Tasks = f.title, f.tags, f.aliases, f.headings, f.tasks
	n.Links, n.Frontmatter, n.FrontmatterError, n.Provenance = f.links, f.frontmatter, f.fault, provenanceOf(f.frontmatter)
	v.mu.RLock()
	defer v.mu.RUnlock()
	for i := range n.Links {
		if to := v.ix.resolve(p, &n.Links[i]); to != nil {
			n.Links[i].To = to.path
		}
	}
	return n, nil
}

// facts are what a note says of itself.
type facts struct {
	outline
	title       string
	aliases     []string
	frontmatter map[string]any
	fault       sys.Words
}

func factsOf(p, text string) facts {
	f := facts{outline: scan(text), title: stem(path.Base(p))}
	f.frontmatter, f.fault = parseFrontmatter(text)
	if title, ok := f.frontmatter["title"].(string); ok && strings.TrimSpace(title) != "" {
		f.title = strings.TrimSpace(title)
	}
	for _, key := range []string{"aliases", "alias"} {
		f.aliases = append(f.aliases, stringsOf(f.frontmatter[key], false)...)
	}
	var tags []string
	for _, key := range []string{"tags", "tag"} {
		tags = append(tags, stringsOf(f.frontmatter[key], true)...)
	}
	seen := map[string]bool{}
	all := append(tags, f.tags...)
	f.tags = nil
	for _, tag := range all {
		tag = strings.Trim(tag, "#/")
		if key := fold(tag); tag != "" && !seen[key] {
			seen[key] = true
			f.tags = append(f.tags, tag)
		}
	}
	for i := range f.tasks {
		f.tasks[i].Path = p
	}
	return f
}

// bytes reads a file of the vault of at most limit bytes.
func (v *Vault) bytes(p string, limit int64) ([]byte, fs.FileInfo, error) {
	root, err := v.root()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	return readIn(root, p, limit)
}

func readIn(root *os.Root, p string, limit int64) ([]byte, fs.FileInfo, error) {
	disk := p
	info, err := root.Stat(p) // first: to open a pipe waits for its other end
	if isMissing(err) {
		if form, ok := onDisk(root, p); ok {
			disk = form
			info, err = root.Stat(disk)
		}
	}
	switch {
	case err != nil:
		return nil, nil, errRead(p, err)
	case info.IsDir():
		return nil, nil, errIsFolder(p)
	case !info.Mode().IsRegular():
		return nil, nil, errRead(p, fmt.Errorf("it is a device, a pipe or a socket"))
	case info.Size() > limit:
		return nil, nil, errLarge(p, info.Size())
	}
	f, err := root.Open(disk)
	if err != nil {
		return nil, nil, errRead(p, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, errRead(p, err)
	}
	raw := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	// It may have grown since it was looked at: the rest belongs to it.
	if _, err := raw.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, nil, errRead(p, err)
	}
	if int64(raw.Len()) > limit {
		return nil, nil, errLarge(p, int64(raw.Len()))
	}
	return raw.Bytes(), info, nil
}

func hashOf(raw []byte) string {
	sum := blake3.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Bytes returns what stands in a file, of at most 50 MB.
func (v *Vault) Bytes(name string) ([]byte, error) {
	p, err := clean(name)
	if err != nil {
		return nil, err
	}
	raw, _, err := v.bytes(p, maxFile)
	return raw, err
}

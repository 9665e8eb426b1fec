package skill

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"oxios/kernel/sys"
)

// Bounds of a repository.
const (
	maxPack    = 256 << 20 // bytes of its newest commit, packed
	maxObjects = 200_000
	fetchTime  = 5 * time.Minute
)

// fromGit installs a skill from a repository: of one commit alone, without its history. No program is run for it: hooks,
// filters and submodules of the repository mean nothing here.
func (s *Service) fromGit(ctx context.Context, p place, staging string) (at, commit string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	bare, err := os.MkdirTemp(filepath.Dir(staging), ".new-git-")
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bare)) }()
	store := filesystem.NewStorage(osfs.New(bare), cache.NewObjectLRU(8<<20))
	id, err := s.pull(ctx, p, bare, store)
	if err != nil {
		return "", "", err
	}
	c, err := object.GetCommit(store, id)
	if err != nil {
		return "", "", brokenGit(p, err)
	}
	tree, err := c.Tree()
	if err == nil && p.folder != "" {
		tree, err = tree.Tree(p.folder)
	}
	if errors.Is(err, object.ErrDirectoryNotFound) {
		var names []string
		if tree, err = c.Tree(); err == nil {
			names, err = skillsIn(ctx, tree)
		}
		if err != nil {
			return "", "", brokenGit(p, err)
		}
		return "", "", severalSkills(p, names)
	}
	if err != nil {
		return "", "", brokenGit(p, err)
	}
	names, err := skillsIn(ctx, tree)
	if err == nil && len(names) == 1 && names[0] != "." {
		tree, err = tree.Tree(names[0])
	}
	switch {
	case err != nil:
		return "", "", brokenGit(p, err)
	case len(names) != 1:
		for i := range names {
			names[i] = path.Join(p.folder, names[i])
		}
		p.folder = ""
		return "", "", severalSkills(p, names)
	}
	at, err = stage(ctx, staging, func(in *intake) error { return in.tree(tree) })
	return at, id.String(), err
}

// pull fetches one commit into a store and returns its id.
func (s *Service) pull(ctx context.Context, p place, bare string, store *filesystem.Storage) (plumbing.Hash, error) {
	address := p.url.String()
	end, err := transport.NewEndpoint(address)
	if err != nil {
		return plumbing.ZeroHash, notHTTPS(address)
	}
	client := &http.Client{Transport: s.c.Net.Transport(), CheckRedirect: sameHost}
	session, err := githttp.NewClient(client).NewUploadPackSession(end, nil)
	if err != nil {
		return plumbing.ZeroHash, notFetched(ctx, fetchTime, address, err)
	}
	defer session.Close()
	refs, err := session.AdvertisedReferencesContext(ctx)
	switch {
	case errors.Is(err, transport.ErrRepositoryNotFound), errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return plumbing.ZeroHash, sys.Errorf(sys.CodeNotFound, "There is no git repository at %s that everybody may read. Nothing was installed.", address).
			WithHint("Check the address. One that needs a password you clone yourself, and install the folder.")
	case err != nil:
		return plumbing.ZeroHash, notFetched(ctx, fetchTime, address, err)
	}
	id, err := commitOf(p, refs)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	req := packp.NewUploadPackRequestFromCapabilities(refs.Capabilities)
	if refs.Capabilities.Supports(capability.Shallow) {
		if err := req.Capabilities.Set(capability.Shallow); err != nil {
			return plumbing.ZeroHash, err
		}
		req.Depth = packp.DepthCommits(1)
	}
	req.Wants = append(req.Wants, id)
	res, err := session.UploadPack(ctx, req)
	if err != nil {
		return plumbing.ZeroHash, notFetched(ctx, fetchTime, address, err)
	}
	defer res.Close()
	pack, err := os.Create(filepath.Join(bare, "fetched.pack"))
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer pack.Close()
	var sent io.Reader = res
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		sent = sideband.NewDemuxer(sideband.Sideband64k, res)
	case req.Capabilities.Supports(capability.Sideband):
		sent = sideband.NewDemuxer(sideband.Sideband, res)
	}
	n, err := io.Copy(pack, io.LimitReader(sent, maxPack+1))
	switch {
	case err != nil:
		return plumbing.ZeroHash, notFetched(ctx, fetchTime, address, err)
	case n > maxPack:
		return plumbing.ZeroHash, refusedSize(sys.Say("it has more than %d MB", maxPack>>20))
	}
	if err := boundPack(ctx, pack); err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return plumbing.ZeroHash, err
	}
	if err := packfile.UpdateObjectStorage(store, pack); err != nil {
		return plumbing.ZeroHash, brokenGit(p, err)
	}
	return id, nil
}

// sameHost follows a server only to another address of its own: the person named this one.
func sameHost(to *http.Request, via []*http.Request) error {
	if from := via[0].URL; len(via) > 3 || to.URL.Host != from.Host || to.URL.Scheme != from.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// commitOf finds the commit that is meant: that of a branch or a tag, or one by its whole id.
func commitOf(p place, refs *packp.AdvRefs) (plumbing.Hash, error) {
	if p.ref == "" {
		if refs.Head == nil {
			return plumbing.ZeroHash, sys.Errorf(sys.CodeNotFound, "The repository %s is empty. Nothing was installed.", p.url)
		}
		return *refs.Head, nil
	}
	for _, name := range []string{"refs/tags/" + p.ref, "refs/heads/" + p.ref} {
		if id, ok := refs.Peeled[name]; ok { // of a tag with a message: the commit that it names
			return id, nil
		}
		if id, ok := refs.References[name]; ok {
			return id, nil
		}
	}
	if plumbing.IsHash(p.ref) {
		return plumbing.NewHash(p.ref), nil
	}
	return plumbing.ZeroHash, sys.Errorf(sys.CodeNotFound, "The repository %s has no branch or tag %q. Nothing was installed.", p.url, sys.Shorten(p.ref, 100)).
		WithHint("A commit is named by its whole id.")
}

// boundPack refuses a pack whose objects would become too much, before any of them is held in memory: each as it is declared,
// and what a delta makes, which its second number tells.
func boundPack(ctx context.Context, pack io.ReadSeeker) error {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	scan := packfile.NewScanner(pack)
	_, count, err := scan.Header()
	if err != nil {
		return broken(err)
	}
	if count > maxObjects {
		return refusedSize(sys.Say("it has more than %d files", maxObjects))
	}
	var total int64
	fits := func(size int64) bool {
		total += size
		return size >= 0 && size <= maxOne && total <= maxTotal
	}
	for range count {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		h, err := scan.NextObjectHeader()
		if err != nil {
			return broken(err)
		}
		if !fits(h.Length) {
			return unpacksToTooMuch()
		}
		head := first{ctx: ctx}
		if _, _, err := scan.NextObject(&head); head.err != nil {
			return head.err
		} else if err != nil {
			return broken(err)
		}
		if h.Type.IsDelta() {
			_, rest := number(head.kept)
			if size, _ := number(rest); !fits(size) {
				return unpacksToTooMuch()
			}
		}
	}
	return nil
}

func unpacksToTooMuch() error {
	return refusedSize(sys.Say("it unpacks to more than %d MB", maxTotal>>20))
}

// first keeps the beginning of what is written to it, and takes nothing once the time is over.
type first struct {
	ctx  context.Context
	kept []byte
	err  error // why it took no more
}

func (f *first) Write(p []byte) (int, error) {
	if f.err = context.Cause(f.ctx); f.err != nil {
		return 0, f.err
	}
	if room := 20 - len(f.kept); room > 0 {
		f.kept = append(f.kept, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// number reads one of the numbers that a delta begins with; -1 where there is none.
func number(p []byte) (n int64, rest []byte) {
	for i, b := range p {
		if i > 8 {
			break
		}
		n |= int64(b&0x7F) << (7 * i)
		if b&0x80 == 0 {
			return n, p[i+1:]
		}
	}
	return -1, nil
}

// walkTree goes through what is in a tree and below it. The same folder may stand in one many times over, so that a small
// repository can be endless: it goes through so many entries at most.
func walkTree(ctx context.Context, t *object.Tree, fn func(name string, e object.TreeEntry) error) error {
	walk := object.NewTreeWalker(t, true, nil)
	defer walk.Close()
	for range maxObjects {
		name, e, err := walk.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = fn(name, e)
		}
		if err != nil {
			return err
		}
	}
	return refusedSize(sys.Say("it has more than %d files", maxObjects))
}

// tree takes in the files of a tree.
func (in *intake) tree(t *object.Tree) error {
	return walkTree(in.ctx, t, func(name string, e object.TreeEntry) error {
		switch e.Mode {
		case filemode.Dir:
			return nil
		case filemode.Submodule:
			return refused(sys.Say("%q is another repository", sys.Shorten(visible(name), 120)))
		}
		mode, err := e.Mode.ToOSFileMode()
		if err != nil {
			return refused(sys.Say("%q is not a regular file", sys.Shorten(visible(name), 120)))
		}
		blob, err := t.TreeEntryFile(&e)
		if err != nil {
			return broken(err)
		}
		return in.entry(name, mode, uint64(max(blob.Size, 0)), blob.Reader)
	})
}

// skillsIn are the folders of a tree that hold a skill, "." for the tree itself, which then is the only one.
func skillsIn(ctx context.Context, t *object.Tree) (names []string, err error) {
	err = walkTree(ctx, t, func(name string, e object.TreeEntry) error {
		if e.Mode.IsFile() && isSkillFile(path.Base(name)) {
			names = append(names, path.Dir(name))
		}
		return nil
	})
	if slices.Contains(names, ".") {
		return []string{"."}, err
	}
	return names, err
}

func brokenGit(p place, err error) error {
	var own *sys.Error
	if errors.As(err, &own) {
		return own
	}
	return sys.Errorf(sys.CodeInvalid, "What the repository %s sent cannot be read: %w. Nothing was installed.", p.url, err).WithHint("Clone it yourself, and install the folder.")
}

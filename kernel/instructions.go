package kernel

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/blake3"

	"oxios/kernel/llm"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// maxInstructions is how much of a folder's instructions is loaded, in bytes of
// UTF-8. They are sent with every call.
const maxInstructions = 32 << 10

// The files that may hold a folder's instructions, the first one found counts:
// the open convention (agents.md), then that of Claude Code.
var instructionFiles = []string{"AGENTS.md", "CLAUDE.md"}

// Instructions are what a folder tells the agents that work in it.
type Instructions = store.Instructions

// Instructions returns the instructions of a folder, as a run in it would be
// told them now if the person trusts the folder: its AGENTS.md, else its
// CLAUDE.md, else those of the nearest folder above it in the same repository.
// Without any the name is "".
func (a *ExecAPI) Instructions(ctx context.Context, path string) (Instructions, error) {
	return guard(ctx, a.caller, action{call: "exec.instructions", resource: "file:" + path, paths: namedPaths(path)}, func(ctx context.Context) (Instructions, error) {
		abs, err := a.k.usable(path)
		if err != nil {
			return Instructions{}, err
		}
		in := a.k.instructions(abs)
		return in, a.k.withhold(ctx, &in)
	})
}

// told returns what a run in a folder is told, nil for nothing: instructions
// count only where the person trusts the folder that holds them.
func (k *Kernel) told(ctx context.Context, folder string) (*Instructions, error) {
	if trust, err := k.trust(ctx, folder); err != nil || trust != FolderTrusted {
		return nil, err // nothing of it is read
	}
	in := k.instructions(folder)
	if in.Name == "" || k.shutAll().Reaches(in.Path) != "" || k.shutAll().Reaches(realPath(in.Path)) != "" {
		return nil, nil // what is denied to agents tells them nothing
	}
	// What an agent wrote after it had read a stranger's words is not the person's
	// word, wherever it lies.
	if err := k.withhold(ctx, &in); err != nil || in.Withheld {
		return &in, err
	}
	if followed, err := k.heldByTrusted(ctx, folder, &in); err != nil || !followed {
		return &in, err
	}
	return &in, k.keepFollowed(ctx, in)
}

// heldByTrusted reports whether the person trusts the folder that holds the
// instructions of a folder that they trust. Where they do not, the text is taken
// out, and why it is not followed is said.
func (k *Kernel) heldByTrusted(ctx context.Context, folder string, in *Instructions) (bool, error) {
	holder := filepath.Dir(in.Path)
	if holder == folder {
		return true, nil
	}
	trust, err := k.trust(ctx, holder)
	if err != nil || trust == FolderTrusted {
		return err == nil, err
	}
	why := sys.Say("It is in %s, which you have not said that you trust. `oxios folders trust %s` says it.", shortenHome(holder), shortenHome(holder))
	in.Text, in.Tokens, in.Problem, in.ProblemKO = "", 0, why.EN, why.KO
	return false, nil
}

func (k *Kernel) instructions(folder string) Instructions {
	top := repositoryOf(folder)
	for at := folder; ; at = filepath.Dir(at) {
		for _, name := range instructionFiles {
			in := Instructions{Name: name, Path: filepath.Join(at, name)}
			if _, err := os.Lstat(in.Path); err == nil {
				k.load(at, &in)
				return in
			}
		}
		if at == top || at == filepath.Dir(at) {
			return Instructions{}
		}
	}
}

// load reads a file with instructions, or says why it cannot be read. A link
// that leads out of the folder is no file of the folder.
func (k *Kernel) load(folder string, in *Instructions) {
	text, err := k.readInstructions(folder, in)
	if err != nil {
		why := sys.AsError(err)
		in.Problem, in.ProblemKO = why.Message, why.MessageKO
		return
	}
	sum := blake3.Sum256([]byte(text))
	in.Text, in.Tokens, in.Hash = text, llm.Tokens(text), hex.EncodeToString(sum[:])
}

func (k *Kernel) readInstructions(folder string, in *Instructions) (string, error) {
	p := place{root: folder, rel: in.Name, shown: in.Name, abs: in.Path, folder: folder, inside: true}
	root, err := security.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := in.Name
	if real, err := filepath.Rel(realPath(folder), realPath(in.Path)); err == nil && filepath.IsLocal(real) {
		name = real // an absolute link that stays inside is opened where it leads
	}
	f, info, err := root.OpenRegular(name)
	if err != nil {
		return "", k.fileError(root, p, err)
	}
	defer f.Close()
	in.Bytes = info.Size()
	if info.Size() > maxFile {
		return "", sys.Errorf(sys.CodeTooLarge, "%s has %s; it was not loaded.", in.Name, sizeText(info.Size()))
	}
	enc, err := sniff(f)
	if err != nil {
		return "", notText(p, info.Size(), err)
	}
	raw := make([]byte, maxInstructions+1)
	n, err := io.ReadFull(enc.reader(f), raw)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", k.fileError(root, p, &fs.PathError{Op: "read", Path: in.Name, Err: err})
	}
	if in.Cut = n > maxInstructions; in.Cut {
		for n = maxInstructions; !utf8.RuneStart(raw[n]); n-- {
		}
	}
	return k.masked(strings.TrimSpace(string(raw[:n]))), nil
}

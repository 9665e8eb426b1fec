package undo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"oxios/kernel/security"
	"oxios/kernel/undo"
)

var errPower = errors.New("the power went")

// random draws content: mostly small, now and then large.
func random(rt *rapid.T) []byte {
	if rapid.IntRange(0, 20).Draw(rt, "large") == 0 {
		return []byte(strings.Repeat(rapid.StringMatching(`[a-z]{1,9}`).Draw(rt, "word"), 200_000))
	}
	return rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(rt, "content")
}

// setTo makes a path be one of the things that it can be.
func setTo(rt *rapid.T, dir, rel string) {
	path := filepath.Join(dir, rel)
	_ = os.RemoveAll(path)
	check := func(err error) {
		if err != nil {
			rt.Fatal(err)
		}
	}
	switch rapid.SampledFrom([]string{"file", "file", "file", "link", "absent"}).Draw(rt, "kind") {
	case "file":
		check(os.WriteFile(path, random(rt), 0o600))
		check(os.Chmod(path, os.FileMode(rapid.SampledFrom([]int{0o600, 0o644, 0o755, 0o700}).Draw(rt, "mode"))))
	case "link":
		check(os.Symlink(rapid.SampledFrom([]string{"a", "nowhere", "../out"}).Draw(rt, "to"), path))
	}
}

// Whatever was there, whatever somebody else does meanwhile and wherever the power
// goes: after the next start a path is what the move wanted, or what somebody else
// put there, or as it was; and every content that ever was there is there still, or
// in the store.
func TestNoMoveLosesAByteThatSomebodyElseWrote(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	objects := undo.At(filepath.Join(base, "undo"))
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, rapid.StringMatching(`[a-z]{6}`).Draw(rt, "dir")+strings.Repeat("x", n%50))
		_ = os.RemoveAll(dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		root, err := security.OpenRoot(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer root.Close()
		rel := rapid.SampledFrom([]string{"a", "new\nline", "한글 name", "-dash"}).Draw(rt, "name")
		look := func(name string) undo.State {
			s, err := undo.Look(root, name)
			if err != nil {
				rt.Fatal(err)
			}
			return s
		}
		keep := func() undo.State {
			s := look(rel)
			if err := undo.Keep(objects, root, rel, s); err != nil {
				rt.Fatal(err)
			}
			return s
		}
		setTo(rt, dir, rel)
		becomes := keep()
		setTo(rt, dir, rel)
		was := keep()
		foreign := undo.State{Kind: "none"}
		left := rapid.IntRange(0, 8).Draw(rt, "boundary of the power cut")
		meddle := rapid.IntRange(-3, 6).Draw(rt, "boundary of somebody else")
		at := 0
		m := undo.Mover{Objects: objects, Boundary: func() error {
			if at == meddle {
				if rapid.Bool().Draw(rt, "in place") && look(rel).Kind == undo.File {
					if err := os.WriteFile(filepath.Join(dir, rel), random(rt), 0o600); err != nil {
						rt.Fatal(err)
					}
				} else {
					setTo(rt, dir, rel)
				}
				foreign = look(rel)
			}
			at++
			if at > left && left < 6 {
				return errPower
			}
			return nil
		}}
		v := undo.Move{Root: root, Rel: rel, Was: was, Becomes: becomes, Temp: ".oxios-test"}
		err = m.Apply(v)
		if errors.Is(err, errPower) {
			m.Boundary = nil
			var made bool
			if made, err = m.Settle(v); err == nil && !made {
				err = m.Apply(v)
			}
		}
		now := look(rel)
		switch {
		case err == nil && now != becomes && now != foreign:
			rt.Fatalf("made: got %s, want %s", now, becomes)
		case err != nil && !errors.Is(err, undo.ErrForeign):
			rt.Fatalf("got %v", err)
		case err != nil && now != foreign:
			rt.Fatalf("not made: got %s, want %s, which somebody else put there", now, foreign)
		}
		names, err := os.ReadDir(dir)
		if err != nil {
			rt.Fatal(err)
		}
		held := map[undo.State]bool{}
		for _, e := range names {
			held[look(e.Name())] = true
			if e.Name() != rel && foreign.Kind == "none" {
				rt.Fatalf("%q is left", e.Name())
			}
		}
		for _, s := range []undo.State{was, becomes, foreign} {
			if s.Content == "" {
				continue
			}
			if has, err := objects.Has(s.Content); err != nil || !has && !held[s] {
				rt.Fatalf("%s is lost: %v", s, err)
			}
		}
	})
}

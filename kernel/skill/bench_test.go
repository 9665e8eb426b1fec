package skill

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkFind looks for 100 skills on the disk.
func BenchmarkFind(b *testing.B) {
	dir := b.TempDir()
	for i := range 100 {
		name := fmt.Sprintf("tool-%d", i)
		text, err := fs.ReadFile(Bundled(), "debug/SKILL.md")
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, name), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name, "SKILL.md"), text, 0o644)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if c := Find(b.Context(), []Root{{Path: dir, Source: SourceGlobal, Trusted: true}}); len(c.Skills) != 1 || len(c.Left) != 99 {
			b.Fatalf("%d skills", len(c.Skills))
		}
	}
}

// BenchmarkHash and BenchmarkExamine take the bundled skills.
func BenchmarkHash(b *testing.B) {
	for b.Loop() {
		if _, err := Hash(b.Context(), Bundled()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExamine(b *testing.B) {
	for b.Loop() {
		if _, err := Examine(b.Context(), Bundled(), Skill{}); err != nil {
			b.Fatal(err)
		}
	}
}

package skill_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel/parttest"
	"oxios/kernel/skill"
)

func TestTheServiceIsAPart(t *testing.T) {
	parttest.Run(t, func(t *testing.T) parttest.Part {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "skills", "one"), 0o700); err != nil {
			t.Fatal(err)
		}
		return skill.New(skill.Config{
			Dir: filepath.Join(dir, "skills"), Log: slog.New(slog.DiscardHandler),
			Trusted: func(context.Context, string) bool { return false }, Told: func(string) {},
		})
	})
}

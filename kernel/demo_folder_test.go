package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

func TestDemoHasAFolderWithSomethingInIt(t *testing.T) {
	t.Parallel()
	for language, name := range map[string]string{"en": "notes.md", "ko": "메모.md"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			var url string
			k := open(t, kerneltest.With(func(o *kernel.Options) {
				o.Demo = func(context.Context) (string, error) { return url, nil }
			}))
			url = k.URL
			h := k.Person()
			if _, err := h.Infra.SetConfig(t.Context(), "language", language); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Infra.StartDemo(t.Context()); err != nil {
				t.Fatal(err)
			}
			if raw, err := os.ReadFile(filepath.Join(k.Folder, name)); err != nil || len(raw) == 0 {
				t.Errorf("got %q, %v, want a file to read", raw, err)
			}
			entries, err := os.ReadDir(k.Folder)
			if err != nil || len(entries) != 3 {
				t.Fatalf("got %v, %v, want three files", entries, err)
			}
			// A folder of the person's, even with one file, is left as it is.
			for _, e := range entries[1:] {
				if err := os.Remove(filepath.Join(k.Folder, e.Name())); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := h.Infra.StartDemo(t.Context()); err != nil {
				t.Fatal(err)
			}
			if now, err := os.ReadDir(k.Folder); err != nil || len(now) != 1 {
				t.Errorf("got %v, %v, want it as it was", now, err)
			}
			// What was chosen is there after a restart.
			k.Restart()
			if s, err := k.Person().Infra.Status(t.Context()); err != nil || !s.Demo || !s.HasModel {
				t.Errorf("after a restart: got %+v, %v, want the demo", s, err)
			}
		})
	}
}

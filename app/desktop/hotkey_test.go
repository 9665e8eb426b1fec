//go:build desktop || dev

package desktop

import (
	"testing"
	"time"
)

func TestKeysAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]struct {
		shown string
		sym   uint32
		name  string
	}{
		"Ctrl+Alt+Space":  {"Ctrl Alt Space", 0x20, "space"},
		"Shift+Super+Q":   {"Shift Super Q", 0x71, "q"},
		"Ctrl+Shift+F12":  {"Ctrl Shift F12", 0xffc9, "F12"},
		"Super+7":         {"Super 7", 0x37, "7"},
		"Ctrl+Alt":        {},
		"":                {},
		"Ctrl+A+B":        {},
		"Ctrl++":          {},
		"Ctrl+Alt+Space+": {},
	} {
		c, err := parseKeys(text)
		if err != nil {
			if want.shown != "" {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		sym, name := c.keysym()
		if c.String() != want.shown || sym != want.sym || name != want.name {
			t.Errorf("%q: got %q, %#x %q, want %+v", text, c, sym, name, want)
		}
	}
}

func TestCommandToBindSurvivesAShell(t *testing.T) {
	t.Parallel()

	for word, want := range map[string]string{"/usr/bin/oxios-desktop": "/usr/bin/oxios-desktop", "/a b/it's": `'/a b/it'\''s'`, "": "''"} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}

func TestNewestWishForKeysWins(t *testing.T) {
	t.Parallel()

	said := make(chan Hotkey, 16)
	h := newHotkey(func() {}, func(v Hotkey) { said <- v })
	h.wish("Ctrl+A")
	h.wish("")
	h.wish("") // nothing new
	go h.run(t.Context())
	select {
	case v := <-said:
		if v.State != keysOff || h.view() != v {
			t.Errorf("got %+v, want the keys off", v)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("nothing was said")
	}
	select {
	case v := <-said:
		t.Errorf("got %+v too", v)
	default:
	}
}

package security

import (
	"slices"
	"strings"
	"testing"

	"oxios/kernel/store"
)

func TestNamedHosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"see https://Docs.Example/a and http://www.b.example:8080/": "docs.example b.example",
		"www.c.example.": "c.example",
		"<https://d.example/x>, (https://e.example/y)":                          "d.example e.example",
		"Please bring notes.md, backup.zip and main.rs in order":                "",
		"write to anna@www.example or ftp://f.example":                          "",
		"https://g.example/?next=https://h.example/":                            "g.example",
		"foohttps://i.example https://name@j.example/":                          "j.example",
		"https://k.example을 봐 주세요":                                              "k.example",
		"`https://l.example/`\n\"https://m.example\"":                           "l.example m.example",
		"read notes.md at https://n.example/www.o.example and www.p.example...": "n.example p.example",
	} {
		if got := strings.Join(NamedHosts(text, nil), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestAPastedPartNamesAMachineOnlyAlone(t *testing.T) {
	t.Parallel()
	const text = "https://typed.example 🙂 https://pasted.example/x"
	alone := store.Span{From: 25, To: 49}
	for want, p := range map[string][]store.Span{
		"typed.example pasted.example": {alone},
		"typed.example":                {{From: 25, To: 49, Foreign: true}},
		"":                             {{From: 0, To: 49}},
		"pasted.example":               {{From: 0, To: 22, Foreign: true}, alone},
	} {
		if got := strings.Join(NamedHosts(text, p), " "); got != want {
			t.Errorf("%+v: got %q, want %q", p, got, want)
		}
	}
	for _, odd := range [][]store.Span{{{From: -4, To: 900}}, {{From: 30, To: 3}}, {{From: 26, To: 26}}} {
		NamedHosts(text, odd) // never panics
	}
}

func TestHasAddress(t *testing.T) {
	t.Parallel()
	const text = "[One](https://a.example/x?y=1) <https://b.example/p#part>, see https://c.example/end. \"https://d.example\" https://e.example/a_b_c " +
		"https://f.example/한글 | https://g.example/wiki/Foo_(bar) https://h.example/?u=https://i.example/z"
	for address, want := range map[string]bool{
		"https://a.example/x?y=1": true, "https://a.example/x": false, "https://a.example/x?y=12": false,
		"https://b.example/p": true, "https://b.example/p#other": true, "https://b.example/": false,
		"https://c.example/end": true, "https://c.example/end.": true, "https://c.example/en": false,
		"https://d.example": true, "https://d.example/": true, "https://d.exampl": false,
		"https://e.example/a_b_c": true, "https://e.example/a_b": false, "https://e.example/a": false,
		"https://g.example/wiki/Foo_(bar)": true, "https://i.example/z": false, "https://h.example/?u=https://i.example/z": true,
		"HTTPS://a.example/x?y=1": false, "a.example": false, "https://": false, "": false,
	} {
		if got := HasAddress(text, address); got != want {
			t.Errorf("%q in the text: got %v, want %v", address, got, want)
		}
		if got := HasAddress(AddressesIn(text), address); got != want {
			t.Errorf("%q in what is kept of it: got %v, want %v", address, got, want)
		}
	}
	if kept := strings.Fields(AddressesIn("nothing here, and one: https://x.example")); !slices.Equal(kept, []string{"https://x.example"}) {
		t.Errorf("got %q", kept)
	}
}

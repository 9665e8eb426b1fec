package knowledge

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

const pngHead = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

func TestAttachedFilesGetANameOfTheirOwn(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"n.md": "![[pic.png]]", "elsewhere/taken.pdf": "%PDF"})
	attach := func(name, data string) (string, error) {
		plan, err := v.PlanAttach(t.Context(), name, []byte(data))
		if err != nil {
			return "", err
		}
		return plan.Steps[0].Path, v.Apply(t.Context(), plan)
	}
	for _, c := range [][2]string{
		{"some/folder/pic.png", "attachments/pic.png"},
		{`C:\folder\pic.png`, "attachments/pic (2).png"},
		{"taken.pdf", "attachments/taken (2).pdf"},
		{"제주 바다: 1#[2].PNG", "attachments/제주 바다- 1--2-.PNG"},
		{".png", "attachments/file.png"},
		{strings.Repeat("가", 200) + ".png", "attachments/" + strings.Repeat("가", 65) + ".png"},
	} {
		if p, err := attach(c[0], c[0]); err != nil || p != c[1] || onDiskText(t, v, p) != c[0] {
			t.Errorf("%s: got %q, %v, want %q", c[0], p, err, c[1])
		}
	}
	if n := read(t, v, "n"); n.Links[0].To != "attachments/pic.png" {
		t.Errorf("got %+v", n.Links)
	}
	_, err := v.PlanAttach(t.Context(), "big.bin", make([]byte, maxFile+1))
	want(t, err, sys.CodeTooLarge)
	_, err = v.PlanAttach(t.Context(), "empty.png", nil)
	want(t, err, sys.CodeInvalid)
	// What came in between is not overwritten.
	plan, err := v.PlanAttach(t.Context(), "late.png", []byte("mine"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, v.dir, "attachments/late.png", "theirs")
	want(t, v.Apply(t.Context(), plan), sys.CodeConflict)
	if got := onDiskText(t, v, "attachments/late.png"); got != "theirs" {
		t.Errorf("got %q", got)
	}
}

func TestAttachmentsStayInTheVault(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a right there")
	}
	v := setup(t, map[string]string{"n.md": "x"})
	outside := t.TempDir()
	put(t, outside, "secret.png", pngHead)
	for name, to := range map[string]string{"attachments": outside, "secret.png": filepath.Join(outside, "secret.png")} {
		if err := os.Symlink(to, filepath.Join(v.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := v.PlanAttach(t.Context(), "a.png", []byte("x"))
	if err == nil {
		err = v.Apply(t.Context(), plan)
	}
	want(t, err, sys.CodeForbidden)
	if left := files(t, outside); len(left) != 1 {
		t.Errorf("got %v", left)
	}
	for name, code := range map[string]sys.Code{
		"secret.png": sys.CodeForbidden, "attachments/secret.png": sys.CodeForbidden, "../" + filepath.Base(outside) + "/secret.png": sys.CodeInvalid,
		".obsidian/app.json": sys.CodeForbidden, "/etc/hostname": sys.CodeInvalid, "none.png": sys.CodeNotFound,
	} {
		_, raw, err := v.Peek(name, 0, 100)
		if want(t, err, code); raw != nil {
			t.Errorf("%s was read", name)
		}
	}
}

func TestPicturesAreKnownByTheirContent(t *testing.T) {
	t.Parallel()
	for what, c := range map[string][2]string{
		"png":               {pngHead, "image/png"},
		"svg":               {`<svg xmlns="http://www.w3.org/2000/svg"/>`, "image/svg+xml"},
		"svg with a head":   {"\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!-- x -->\n<svg/>", "image/svg+xml"},
		"avif":              {"\x00\x00\x00\x1cftypavif", "image/avif"},
		"html":              {"<html><svg/></html>", ""},
		"text":              {"see <svg", ""},
		"heic":              {"\x00\x00\x00\x1cftypheic", ""},
		"what is no longer": {"", ""},
	} {
		if got := picture([]byte(c[0])); got != c[1] {
			t.Errorf("%s: got %q, want %q", what, got, c[1])
		}
	}
}

const parts = `---
tags: [x]
---
# Trip

First words
and more. ^one

## To Do: now

- [ ] pack ^pack
  - a coat
  - a hat
- [ ] go

| a | b |
|---|---|
| 1 | 2 |

^table

### Later

> Quoted
> twice

` + "```go\n# no heading ^no\n\n- no item\n```" + `

## Empty
`

func TestBlocksAreWhatALinkCanName(t *testing.T) {
	t.Parallel()
	var got []string
	for _, b := range blocksOf(parts) {
		got = append(got, fmt.Sprint(b.Line, "-", b.whole, " ", b.Text, " ", b.ID, " ", b.Apart))
	}
	if wanted := []string{
		"6-7 First words one false", "11-13 - [ ] pack pack false", "12-12 - a coat  false", "13-13 - a hat  false", "14-14 - [ ] go  false",
		"16-18 | a | b | table true", "24-25 > Quoted  true", "27-31 ```go  true",
	}; !slices.Equal(got, wanted) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wanted, "\n"))
	}
}

func TestEmbedsShowThePartThatTheyName(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{
		"a/Trip.md": parts, "a/from.md": "![[Trip]]", "a/pic.png": pngHead, "pic.png": pngHead, "deep/other.png": "no picture",
		"long.md": strings.Repeat("0123456789\n", 10_000),
	})
	for link, c := range map[string]struct{ path, kind, missing, text string }{
		"![[Trip#^one]]":                   {"a/Trip.md", "note", "", "First words\nand more."},
		"![[Trip#^PACK|shown]]":            {"a/Trip.md", "note", "", "- [ ] pack\n  - a coat\n  - a hat"},
		"![[Trip#^table]]":                 {"a/Trip.md", "note", "", "| a | b |\n|---|---|\n| 1 | 2 |"},
		"![[Trip#To Do now]]":              {"a/Trip.md", "note", "", "## To Do: now\n\n- [ ] pack\n  - a coat\n  - a hat\n- [ ] go\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\n\n### Later\n\n> Quoted\n> twice\n\n```go\n# no heading ^no\n\n- no item\n```"},
		"![[Trip#trip#later]]":             {"a/Trip.md", "note", "", "### Later\n\n> Quoted\n> twice\n\n```go\n# no heading ^no\n\n- no item\n```"},
		"![[Trip#Empty]]":                  {"a/Trip.md", "note", "", "## Empty"},
		"![[Trip#Empty#Later]]":            {"a/Trip.md", "note", "heading", ""},
		"![[Trip#^none]]":                  {"a/Trip.md", "note", "block", ""},
		"![[nobody]]":                      {"", "", "file", ""},
		"![[../../etc/passwd]]":            {"", "", "file", ""},
		"![[pic.png|300]]":                 {"pic.png", "image", "", ""},
		"![sea](pic.png)":                  {"a/pic.png", "image", "", ""},
		"![sea](../pic.png)":               {"pic.png", "image", "", ""},
		"![x](<deep/other.png>)":           {"deep/other.png", "file", "", ""},
		"![[#^one]]":                       {"a/from.md", "note", "block", ""},
		"![[from]]":                        {"a/from.md", "note", "", "![[Trip]]"},
		"![[Trip#^one]] and ![[pic.png]] ": {"a/Trip.md", "note", "", "First words\nand more."},
	} {
		got, err := v.Embed(t.Context(), "a/from.md", link)
		if err != nil || got.Path != c.path || got.Kind != c.kind || got.Missing != c.missing || got.Text != c.text || got.Cut {
			t.Errorf("%s: got %+v, %v", link, got, err)
		}
	}
	if got, err := v.Embed(t.Context(), "", "![[long]]"); err != nil || !got.Cut || len(got.Text) > maxEmbed || !strings.HasSuffix(got.Text, "9") {
		t.Errorf("got %d bytes, %v, %v", len(got.Text), got.Cut, err)
	}
	for _, bad := range []string{"", "words", "![x](https://example.com/a.png)", "[[]]"} {
		_, err := v.Embed(t.Context(), "a/from.md", bad)
		want(t, err, sys.CodeInvalid)
	}
}

func TestBlockGetsAnIDOnlyOnceAndOnlyWhereItWasSeen(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"Trip.md": strings.ReplaceAll(parts, "\n", "\r\n")})
	anchor := func(line int, base string) (string, error) {
		plan, id, err := v.PlanAnchor(t.Context(), "Trip", line, base)
		if err == nil {
			err = v.Apply(t.Context(), plan)
		}
		return id, err
	}
	seen := read(t, v, "Trip").Hash
	if id, err := anchor(6, seen); err != nil || id != "one" || read(t, v, "Trip").Hash != seen {
		t.Errorf("one that has an id: %q, %v", id, err)
	}
	for line, like := range map[int]string{14: "- [ ] go ^%s\r\n", 24: "> twice\r\n\r\n^%s\r\n", 27: "```\r\n\r\n^%s\r\n"} {
		lines := read(t, v, "Trip")
		for _, b := range blocksOf(lines.Text) { // lines before have moved it
			if strings.HasPrefix(strings.Split(parts, "\n")[line-1], b.Text) {
				line = b.Line
			}
		}
		id, err := anchor(line, lines.Hash)
		if err != nil || len(id) != 6 || !strings.Contains(onDiskText(t, v, "Trip.md"), fmt.Sprintf(like, id)) {
			t.Errorf("line %d: %q, %v in\n%s", line, id, err, onDiskText(t, v, "Trip.md"))
		}
		if got, err := v.Embed(t.Context(), "", "![[Trip#^"+id+"]]"); err != nil || got.Text == "" || strings.Contains(got.Text, id) {
			t.Errorf("%s: got %+v, %v", id, got, err)
		}
	}
	_, err := anchor(14, seen)
	want(t, err, sys.CodeConflict)
	_, err = anchor(4, "")
	want(t, err, sys.CodeConflict)
}

func TestPlacesOfATextThatIsNotWrittenYet(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"Trip.md": parts})
	got, err := v.Places(t.Context(), "", "", "# New\n\nwords\n")
	if err != nil || got.Path != "" || len(got.Headings) != 1 || len(got.Blocks) != 1 || len(got.Free) != 6 {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = v.Places(t.Context(), "", "trip", "")
	if err != nil || got.Path != "Trip.md" || len(got.Headings) != 4 || len(got.Blocks) != 8 {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = v.Places(t.Context(), "", "nobody", "")
	want(t, err, sys.CodeNotFound)
}

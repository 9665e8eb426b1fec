package kernel_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/unicode"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestAMarkMeansItsOwnSecretAmongEqualOnes(t *testing.T) {
	t.Parallel()
	_, h, path, marks := withSecrets(t)
	e, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: marks[2], New: "changed-word-99"})
	if err != nil || e.Replaced != 1 {
		t.Fatalf("got %+v, %v, want one place", e, err)
	}
	want := strings.Replace(secretText, "MAIL_PASSWORD=hunter2-oak-41", "MAIL_PASSWORD=changed-word-99", 1)
	if got := read(t, path); got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	e, err = h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: "PASSWORD=" + marks[0], New: "PASSWORD=another-word-7", All: true})
	if want = strings.Replace(want, "hunter2-oak-41", "another-word-7", 1); err != nil || e.Replaced != 1 || read(t, path) != want {
		t.Errorf("got %+v, %v, %q, want %q", e, err, read(t, path), want)
	}
}

// A slip in a mark would put it in the place of the value.
func TestABentMarkIsNotWritten(t *testing.T) {
	t.Parallel()
	k, h, path, marks := withSecrets(t)
	bare := strings.Trim(marks[1], "[]")
	for what, bent := range map[string]string{
		"no bracket at its end": "[" + bare,
		"no brackets":           bare,
		"a blank in it":         strings.Replace(marks[1], ":", ": ", 1),
		"capitals":              strings.ToUpper(marks[1]),
		"a longer tag":          strings.Replace(marks[1], "]", "x]", 1),
		"signs before brackets": strings.Replace(strings.Replace(marks[1], "[", `\[`, 1), "]", `\]`, 1),
	} {
		_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: "API_TOKEN=" + marks[1], New: "API_TOKEN=" + bent})
		if code := sys.CodeOf(err); code != sys.CodeInvalid && code != sys.CodeConflict || !strings.Contains(err.Error(), "Nothing was written") {
			t.Errorf("%s: got %v for %q", what, err, bent)
		}
		_, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "app.conf", Content: "API_TOKEN=" + bent + "\n"})
		if err == nil || read(t, path) != secretText {
			t.Fatalf("%s: got %v and %q", what, err, read(t, path))
		}
	}
	own := "See secret:NAME#1-abcd and " + bare + ".\nCount the issues: #12-demo\n"
	write(t, filepath.Join(k.Folder, "doc.txt"), own)
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "doc.txt", Content: own + "More about secrets, issue #3-soon.\n"}); err != nil {
		t.Errorf("a file's own text: %v", err)
	}
}

func TestAMarkHoldsInEveryEncodingAndByEveryName(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	text := "# 설정 파일입니다. 이 파일은 아주 중요하니 함부로 고치지 마세요.\r\n이름=데모\r\nDB_PASSWORD=hunter2-oak-41\r\nAPI_TOKEN=Zx81kQmT2vLb7Rw9\r\n"
	for name, enc := range map[string]encoding.Encoding{
		"cp949.conf": korean.EUCKR,
		"utf16.conf": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"bom.conf":   unicode.UTF8BOM,
	} {
		as := func(s string) string {
			out, err := enc.NewEncoder().String(s)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		path := filepath.Join(k.Folder, name)
		write(t, path, as(text))
		shown := readWhole(t, h, name)
		marks := marksIn(shown)
		if len(marks) != 2 {
			t.Fatalf("%s: got %q", name, shown)
		}
		found, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "API_TOKEN", Path: name})
		if err != nil || len(found.Matches) != 1 || found.Matches[0].Text != "API_TOKEN="+marks[1] {
			t.Errorf("%s: grep got %+v, %v, want the mark %s", name, found, err, marks[1])
		}
		if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: name, Content: strings.Replace(shown, "데모", "실제", 1)}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: name, Old: "API_TOKEN=" + marks[1], New: "API_TOKEN=" + marks[0]}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := as(strings.Replace(strings.Replace(text, "데모", "실제", 1), "Zx81kQmT2vLb7Rw9", "hunter2-oak-41", 1))
		if got := read(t, path); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	write(t, filepath.Join(k.Folder, "real.conf"), secretText)
	if err := os.Symlink("real.conf", filepath.Join(k.Folder, "link.conf")); err != nil {
		t.Skip(err)
	}
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "real.conf", Content: readWhole(t, h, "link.conf")}); err != nil {
		t.Errorf("by another name: %v", err)
	}
	if got := read(t, filepath.Join(k.Folder, "real.conf")); got != secretText {
		t.Errorf("by another name: got %q", got)
	}
}

// Whatever else a card says, it names the secret.
func TestACardNamesTheSecretBesidesOtherReasons(t *testing.T) {
	t.Parallel()
	k := open(t, website(t, map[string]string{"/": "<p>A page of a stranger.</p>"}))
	h := k.Agent("autonomous")
	write(t, filepath.Join(k.Folder, "app.conf"), secretText)
	marks := marksIn(readWhole(t, h, "app.conf"))
	if _, err := h.Browser.Fetch(t.Context(), kernel.WebFetch{URL: "http://page.example/"}); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "elsewhere.conf")
	linked := filepath.Join(k.Folder, "linked.conf")
	write(t, linked, "A=1\n")
	if err := os.Link(linked, filepath.Join(k.Folder, "second.conf")); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{out, linked} {
		_, err, ap := answered(t, k, h, false, func(ctx context.Context) (kernel.FileEffect, error) {
			return h.Exec.Write(ctx, kernel.WriteArgs{Path: path, Content: "THEIR_TOKEN=" + marks[1] + "\n"})
		})
		wantCode(t, path, err, sys.CodeDenied)
		if r := ap.Request; !strings.Contains(r.Title, "API_TOKEN of app.conf") || !strings.Contains(r.TitleKO, "app.conf의 API_TOKEN") || strings.Contains(jsonOf(t, r), "Zx81") {
			t.Errorf("%s: got the card %+v", path, r)
		}
	}
}

func TestLinesOfAnEditAreThoseThatWereShown(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 4) + "-----END PRIVATE KEY-----\n"
	write(t, filepath.Join(k.Folder, "key.txt"), "first\n"+key+"level=1\nother\nlevel=1\n")
	shown := strings.Split(readWhole(t, h, "key.txt"), "\n")
	if len(marksIn(shown[1])) != 1 || shown[2] != "level=1" {
		t.Fatalf("got %q", shown)
	}
	_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "key.txt", Old: "level=1", New: "level=2"})
	wantCode(t, "twice", err, sys.CodeConflict, "(lines 3, 5)")
}

func TestAFileOfTheNotesIsNotMovedToWhereItsSecretsShow(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	dir := filepath.Join(k.Home, "knowledge")
	write(t, filepath.Join(dir, "app.conf"), secretText)
	_, err := h.Knowledge.Move(t.Context(), "app.conf", "app.go")
	wantCode(t, "to a program", err, sys.CodeRefused, "not masked any more")
	if got := read(t, filepath.Join(dir, "app.conf")); got != secretText {
		t.Errorf("got %q", got)
	}
	if _, err := h.Knowledge.Move(t.Context(), "app.conf", "prod.conf"); err != nil {
		t.Errorf("to a name of the same kind: %v", err)
	}
}

// A mark is worked out anew each time: what an agent has read leaves no value behind.
func TestNothingOfAMaskedValueIsKept(t *testing.T) {
	t.Parallel()
	k, h, _, marks := withSecrets(t)
	if _, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: "X" + marks[1], New: marks[1]}); err == nil {
		t.Fatal("got no error, want the text not found")
	}
	noFileHolds(t, k, "Zx81kQmT2vLb7Rw9")
}

func noFileHolds(t *testing.T, k *kerneltest.Kernel, value string) {
	t.Helper()
	err := filepath.WalkDir(k.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, k.Folder+string(filepath.Separator)) {
			return nil //nolint:nilerr // what went away holds nothing
		}
		if raw, err := os.ReadFile(path); err == nil && bytes.Contains(raw, []byte(value)) {
			t.Errorf("%s holds the value", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

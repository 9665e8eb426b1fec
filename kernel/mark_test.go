package kernel_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// marksIn are the marks with numbers in a text.
func marksIn(text string) (out []string) {
	for {
		_, rest, ok := strings.Cut(text, "[secret:")
		if !ok {
			return out
		}
		mark, rest, _ := strings.Cut(rest, "]")
		if strings.Contains(mark, "#") {
			out = append(out, "[secret:"+mark+"]")
		}
		text = rest
	}
}

// settings generates files of settings as programs have them, and the secrets in
// them.
type settings struct{ *rand.Rand }

func (s settings) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.IntN(256))
	}
	return b
}

func (s settings) pick(list ...string) string { return list[s.IntN(len(list))] }

func (s settings) value(lines bool) string {
	switch s.IntN(8) {
	case 0:
		return fmt.Sprint(1_000_000 + s.IntN(90_000_000))
	case 1:
		return hex.EncodeToString(s.bytes(16))
	case 2:
		return base64.StdEncoding.EncodeToString(s.bytes(24))
	case 3:
		return "sk-proj-" + base64.RawURLEncoding.EncodeToString(s.bytes(30)) + "7Q"
	case 4:
		return s.pick("correct", "purple", "wooden", "silent") + "-" + s.pick("horse", "kettle", "harbour") + "-" + fmt.Sprint(s.IntN(9000)+1000)
	case 5:
		return "p@ss!" + hex.EncodeToString(s.bytes(4)) + "Z"
	case 6:
		return "비밀" + hex.EncodeToString(s.bytes(5))
	}
	if !lines {
		return strings.ToUpper(hex.EncodeToString(s.bytes(10)))
	}
	key := base64.StdEncoding.EncodeToString(s.bytes(240))
	var b strings.Builder
	for ; len(key) > 64; key = key[64:] {
		b.WriteString("  " + key[:64] + "\n")
	}
	return "-----BEGIN PRIVATE KEY-----\n" + b.String() + "  " + key + "\n  -----END PRIVATE KEY-----"
}

func (s settings) file(n int) (name, text string, values []string) {
	form := s.IntN(7)
	var b strings.Builder
	line := func(key, value string, secret bool) {
		if secret {
			values = append(values, value)
		}
		switch form {
		case 0:
			fmt.Fprintf(&b, "%s=%s\n", strings.ToUpper(key), value)
		case 1:
			fmt.Fprintf(&b, "%s = %s\n", key, value)
		case 2:
			if strings.Contains(value, "\n") {
				fmt.Fprintf(&b, "%s: |\n  %s\n", key, value)
				return
			}
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		case 3:
			fmt.Fprintf(&b, "  %q: %q,\n", key, value)
		case 4:
			fmt.Fprintf(&b, "%s = \"%s\"\n", key, value)
		case 5:
			fmt.Fprintf(&b, "export %s='%s'\n", strings.ToUpper(key), value)
		default:
			fmt.Fprintf(&b, "%s=%s\r\n", key, value)
		}
	}
	if form == 3 {
		b.WriteString("{\n")
	}
	last := ""
	for i := range 2 + s.IntN(6) {
		value := s.value(form == 2)
		if last != "" && s.IntN(6) == 0 {
			value = last // equal values have marks of their own
		}
		last = value
		line(s.pick("db", "mail", "api", "stripe", "admin", "cache")+fmt.Sprint(i)+s.pick("_password", "_token", "_secret", "_api_key", "_passwd"), value, true)
		line(s.pick("host", "port", "region", "level")+fmt.Sprint(i), s.pick("localhost", "8080", "eu-west-1", "info"), false)
	}
	line("mode", "Demo", false) // with a capital: the tag of a mark has small letters alone
	for i := range s.IntN(3) {
		line("late"+fmt.Sprint(i)+"_password", s.value(form == 2), true)
	}
	if form == 3 {
		b.WriteString("  \"end\": 1\n}\n")
	}
	end := []string{".conf", ".ini", ".yaml", ".json", ".toml", ".cfg", ".properties"}[form]
	return fmt.Sprintf("app%d%s", n, end), b.String(), values
}

// With OXIOS_WHOLE all thousand, else some of them.
func TestAThousandSettingsKeepTheirSecrets(t *testing.T) {
	t.Parallel()
	n := 60
	if os.Getenv("OXIOS_WHOLE") != "" {
		n = 1000
	}
	k := open(t)
	h := k.Agent("autonomous")
	s := settings{rand.New(rand.NewPCG(20, 3))}
	for i := range n {
		name, text, values := s.file(i)
		path := filepath.Join(k.Folder, name)
		write(t, path, text)
		shown := readWhole(t, h, name)
		for _, v := range values {
			if strings.Contains(shown, v) {
				t.Fatalf("%s: got %q shown in %q", name, v, shown)
			}
		}
		if len(marksIn(shown)) != len(values) {
			t.Fatalf("%s: got %d marks for %d values: %q\n%s", name, len(marksIn(shown)), len(values), shown, text)
		}
		at := strings.Index(shown, "Demo") + len("Demo")
		if _, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: name, Old: shown[:at], New: strings.TrimSuffix(shown[:at], "Demo") + "Real"}); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if got, want := read(t, path), strings.Replace(text, "Demo", "Real", 1); got != want {
			t.Fatalf("%s: got %q after the edit, want %q", name, got, want)
		}
		again := readWhole(t, h, name)
		if want := strings.Replace(shown, "Demo", "Real", 1); again != want {
			t.Fatalf("%s: got %q, want %q", name, again, want)
		}
		again = strings.Replace(again, "Real", "Best", 1)
		if strings.Contains(text, "\r\n") {
			again = strings.ReplaceAll(again, "\n", "\r\n")
		}
		if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: name, Content: again}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, want := read(t, path), strings.Replace(text, "Demo", "Best", 1); got != want {
			t.Fatalf("%s: got %q after the write, want %q", name, got, want)
		}
	}
}

func readWhole(t *testing.T, h *kernel.Handle, name string) string {
	t.Helper()
	got, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: name})
	if err != nil {
		t.Fatal(err)
	}
	return got.Text
}

const secretText = "NAME=demo\nDB_PASSWORD=hunter2-oak-41\nPORT=8080\nAPI_TOKEN=Zx81kQmT2vLb7Rw9\nMAIL_PASSWORD=hunter2-oak-41\n"

// withSecrets is a folder with a file of settings that an agent has read.
func withSecrets(t *testing.T) (k *kerneltest.Kernel, h *kernel.Handle, path string, marks []string) {
	t.Helper()
	k = open(t)
	h = k.Agent("autonomous")
	path = filepath.Join(k.Folder, "app.conf")
	write(t, path, secretText)
	if marks = marksIn(readWhole(t, h, "app.conf")); len(marks) != 3 {
		t.Fatalf("got the marks %q, want three", marks)
	}
	return k, h, path, marks
}

func TestAMarkHasItsNumberInTheWholeFile(t *testing.T) {
	t.Parallel()
	k, h, _, marks := withSecrets(t)
	part, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "app.conf", Offset: 4, Limit: 1})
	if err != nil || part.Text != "API_TOKEN="+marks[1]+"\n" || !strings.HasPrefix(marks[1], "[secret:API_TOKEN#2-") {
		t.Errorf("got %q, %v, want the mark %s", part.Text, err, marks[1])
	}
	if marks[0] == marks[2] || !strings.HasPrefix(marks[2], "[secret:MAIL_PASSWORD#3-") {
		t.Errorf("got %q, want equal values apart", marks)
	}
	found, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "MAIL"})
	if err != nil || len(found.Matches) != 1 || found.Matches[0].Text != "MAIL_PASSWORD="+marks[2] || found.Matches[0].Line != 5 {
		t.Errorf("got %+v, %v", found, err)
	}
	if info, err := os.Stat(filepath.Join(k.Home, "keys", "marks.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want the key for the person alone", info, err)
	}
}

func TestWhatIsMaskedCannotBeGuessed(t *testing.T) {
	t.Parallel()
	_, h, _, _ := withSecrets(t)
	for _, guess := range []string{"API_TOKEN=Z", "T2vLb7", "kQmT2vLb7Rw9\nMAIL"} {
		_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: guess, New: "x"})
		wantCode(t, guess, err, sys.CodeNotFound, "not in app.conf")
	}
	if found, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "TOKEN=Zx8"}); err != nil || len(found.Matches) != 0 {
		t.Errorf("got %+v, %v, want no match within a secret", found, err)
	}
}

func TestAChangeThatWouldShowASecretIsRefused(t *testing.T) {
	t.Parallel()
	_, h, path, marks := withSecrets(t)
	shown := readWhole(t, h, "app.conf")
	for what, do := range map[string]func() error{
		"the key renamed": func() error {
			_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: "API_TOKEN=", New: "GREETING="})
			return err
		},
		"copied under another name": func() error {
			_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: "PORT=8080", New: "GREETING=" + marks[1]})
			return err
		},
		"written without its name": func() error {
			_, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "app.conf", Content: strings.Replace(shown, "DB_PASSWORD", "GREETING", 1)})
			return err
		},
	} {
		wantCode(t, what, do(), sys.CodeRefused, "not masked any more", "Nothing was written")
	}
	if _, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: "PORT=8080", New: "OLD_TOKEN=" + marks[1]}); err != nil {
		t.Errorf("got %v, want a copy under a secret's name allowed", err)
	}
	if got, want := read(t, path), strings.Replace(secretText, "PORT=8080", "OLD_TOKEN=Zx81kQmT2vLb7Rw9", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAMarkThatStandsForNothingIsNotWritten(t *testing.T) {
	t.Parallel()
	_, h, path, marks := withSecrets(t)
	edit := func(mark string) error {
		_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: "PORT=8080", New: "X_TOKEN=" + mark})
		return err
	}
	wantCode(t, "made up", edit("[secret:API_TOKEN#2-aaaa]"), sys.CodeConflict, "stands for no secret that app.conf holds now")
	wantCode(t, "without a number", edit("[secret:API_TOKEN]"), sys.CodeInvalid, "has no number")
	wantCode(t, "of an older conversation", edit("[redacted:password]"), sys.CodeInvalid, "would be lost")
	changed := strings.Replace(secretText, "Zx81kQmT2vLb7Rw9", "Another91kQmT2vL", 1)
	write(t, path, changed)
	wantCode(t, "changed meanwhile", edit(marks[1]), sys.CodeConflict, "Nothing was written")
	_, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "new.conf", Content: "A_TOKEN=[secret:A_TOKEN#1-abcd]\n"})
	wantCode(t, "in a new file", err, sys.CodeConflict, "Nothing was written")
	if got := read(t, path); got != changed {
		t.Errorf("got %q, want the file as it was", got)
	}
}

func TestATextThatLooksLikeAMarkStays(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	path := filepath.Join(k.Folder, "doc.md")
	text := "Marks look like [secret:NAME#1-abcd] or [redacted:password].\ndemo\nlogin password: Zx81kQmT2vLb\n"
	write(t, path, text)
	shown := readWhole(t, h, "doc.md")
	if !strings.Contains(shown, "[secret:NAME#1-abcd] or [redacted:password]") || strings.Contains(shown, "Zx81") {
		t.Fatalf("got %q", shown)
	}
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "doc.md", Content: strings.Replace(shown, "demo", "real", 1)}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, path), strings.Replace(text, "demo", "real", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestASecretOfAnotherFileWaitsForThePerson(t *testing.T) {
	t.Parallel()
	k, h, _, marks := withSecrets(t)
	into := filepath.Join(k.Folder, "other.conf")
	doIt := func(ctx context.Context) (kernel.FileEffect, error) {
		return h.Exec.Write(ctx, kernel.WriteArgs{Path: "other.conf", Content: "THEIR_TOKEN=" + marks[1] + "\n"})
	}
	_, err, ap := answered(t, k, h, false, doIt)
	wantCode(t, "denied", err, sys.CodeDenied)
	r := ap.Request
	if !strings.Contains(r.Why, "API_TOKEN of app.conf into other.conf") || !strings.Contains(r.WhyKO, "app.conf의 API_TOKEN") || strings.Contains(r.Diff, "Zx81kQmT") || !strings.Contains(r.Diff, "+THEIR_TOKEN=[secret:") {
		t.Errorf("got the card %+v", r)
	}
	if _, err := os.Stat(into); err == nil {
		t.Error("a denied write happened")
	}
	if _, err, _ = answered(t, k, h, true, doIt); err != nil || read(t, into) != "THEIR_TOKEN=Zx81kQmT2vLb7Rw9\n" {
		t.Errorf("approved: got %v, %q", err, read(t, into))
	}
	_, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "hello.txt", Content: "hello " + marks[1] + "\n"})
	wantCode(t, "where it is not masked", err, sys.CodeRefused, "not masked any more")
	other := k.Agent("autonomous")
	_, err = other.Exec.Write(t.Context(), kernel.WriteArgs{Path: "x.conf", Content: "X_TOKEN=" + marks[1] + "\n"})
	wantCode(t, "of a run that has not read it", err, sys.CodeConflict)
}

func TestAMarkInACommandOrAnAddressIsRefused(t *testing.T) {
	t.Parallel()
	_, h, _, marks := withSecrets(t)
	_, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "echo '" + marks[1] + "'"})
	wantCode(t, "a command", err, sys.CodeInvalid, "stands for a secret")
	_, err = h.Exec.Structured(t.Context(), kernel.StructuredArgs{Binary: "echo", Args: []string{marks[1]}})
	wantCode(t, "an argument", err, sys.CodeInvalid, "stands for a secret")
	for _, address := range []string{"https://example.com/?k=" + marks[1], "https://example.com/?k=%5Bsecret%3AAPI_TOKEN%232-abcd%5D"} {
		_, err = h.Browser.Fetch(t.Context(), kernel.WebFetch{URL: address})
		wantCode(t, address, err, sys.CodeInvalid, "stands for a secret")
	}
	_, err = h.Browser.Search(t.Context(), kernel.WebSearch{Query: "what is " + marks[0]})
	wantCode(t, "a search", err, sys.CodeInvalid, "stands for a secret")
}

func TestACardAndTheChangesShowMarks(t *testing.T) {
	t.Parallel()
	k, _, path, _ := withSecrets(t)
	h := k.Agent("ask")
	marks := marksIn(readWhole(t, h, "app.conf"))
	_, err, ap := answered(t, k, h, true, func(ctx context.Context) (kernel.FileEffect, error) {
		return h.Exec.Edit(ctx, kernel.EditArgs{Path: "app.conf", Old: "NAME=demo\nDB_PASSWORD=" + marks[0], New: "NAME=real\nDB_PASSWORD=changed-by-me-77"})
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, diff := range map[string]string{"card": ap.Request.Diff, "changes": changeDiff(t, k, h)} {
		if strings.Contains(diff, "hunter2") || !strings.Contains(diff, "-DB_PASSWORD=[secret:DB_PASSWORD#1-") || !strings.Contains(diff, "+DB_PASSWORD=[secret:DB_PASSWORD#1-") {
			t.Errorf("%s: got %q, want marks", what, diff)
		}
	}
	if got := read(t, path); !strings.Contains(got, "DB_PASSWORD=changed-by-me-77\n") || !strings.Contains(got, "MAIL_PASSWORD=hunter2-oak-41") {
		t.Errorf("got %q", got)
	}
}

// The run's own words and the record have marks; the file and what undo keeps have
// the value.
func TestUndoKeepsTheValuesThatAMarkStandsFor(t *testing.T) {
	t.Parallel()
	k, h, path, marks := withSecrets(t)
	if _, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "app.conf", Old: "API_TOKEN=" + marks[1], New: "API_TOKEN=" + marks[0]}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, path), strings.Replace(secretText, "Zx81kQmT2vLb7Rw9", "hunter2-oak-41", 1); got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	ended(t, k, h)
	id := h.Principal().ID
	p, err := k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: id})
	if err != nil {
		t.Fatal(err)
	}
	record, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	for what, shown := range map[string]string{"the preview": fmt.Sprintf("%+v", p), "the record": fmt.Sprintf("%+v %s", record, jsonOf(t, record))} {
		if strings.Contains(shown, "hunter2") || strings.Contains(shown, "Zx81") {
			t.Errorf("%s: got %s, want no value", what, shown)
		}
	}
	if preview := fmt.Sprintf("%+v", p); !strings.Contains(preview, "API_TOKEN=[secret:API_TOKEN#2-") {
		t.Errorf("got the preview %s, want marks in it", preview)
	}
	if _, err := k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: id, Hash: p.Hash}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != secretText {
		t.Errorf("got %q after the undo, want %q", got, secretText)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What comes from elsewhere than a file has names alone, and these put nothing back.
func TestOutputPagesAndMessagesHaveMarksWithoutNumbers(t *testing.T) {
	t.Parallel()
	k := open(t, website(t, map[string]string{"/": "<p>Login with password=Zx81kQmT2vLb now.</p>"}), kerneltest.Script(chatterScript))
	h := k.Agent("autonomous")
	write(t, filepath.Join(k.Folder, "app.conf"), secretText)
	marks := marksIn(readWhole(t, h, "app.conf"))
	out, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "cat app.conf"})
	if err != nil || !strings.Contains(out.Output, "API_TOKEN=[secret:API_TOKEN]\n") || strings.Contains(out.Output, "hunter2") {
		t.Errorf("output: got %q, %v", out.Output, err)
	}
	_, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "app.conf", Content: out.Output})
	wantCode(t, "writing the output back", err, sys.CodeInvalid, "has no number", "Nothing was written")
	page, err := k.Agent("autonomous").Browser.Fetch(t.Context(), kernel.WebFetch{URL: "http://page.example/"})
	if err != nil || !strings.Contains(page.Markdown, "[secret:password]") || strings.Contains(page.Markdown, "Zx81") {
		t.Errorf("page: got %q, %v", page.Markdown, err)
	}
	worker := forked(t, k, h, operator("hang on", "Painter"))
	text := "Use " + marks[1] + " and password=Zx81kQmT2vLb"
	if _, err := h.A2A.Send(t.Context(), kernel.AgentSend{To: worker.RunID, Text: text}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Agents.Message(t.Context(), worker.RunID, text); err != nil {
		t.Fatal(err)
	}
	list, err := k.Person().A2A.Messages(t.Context(), kernel.MailQuery{RunID: worker.RunID})
	said := jsonOf(t, list)
	if err != nil || strings.Count(said, "Use [secret:API_TOKEN] and password=[secret:password]") != 4 { // two messages, each in its text and in what it carries
		t.Errorf("messages: got %s, %v", said, err)
	}
}

func TestASecretOfAFileWaitsForThePersonBeforeItIsInANote(t *testing.T) {
	t.Parallel()
	k, h, _, marks := withSecrets(t)
	_, err, ap := answered(t, k, h, true, func(ctx context.Context) (kernel.VaultChange, error) {
		return h.Knowledge.Write(ctx, kernel.NoteWrite{Path: "keys", Text: "# Keys\n\nAPI_TOKEN=" + marks[1] + "\n"})
	})
	if err != nil || !strings.Contains(ap.Request.Why, "API_TOKEN of app.conf into keys") || strings.Contains(jsonOf(t, ap.Request), "Zx81") {
		t.Errorf("got %v and the card %+v", err, ap.Request)
	}
	if n, err := k.Person().Knowledge.Read(t.Context(), "keys"); err != nil || !strings.Contains(n.Text, "API_TOKEN=Zx81kQmT2vLb7Rw9\n") {
		t.Errorf("got %q, %v", n.Text, err)
	}
}

func TestANoteWithASecretIsChangedByItsMark(t *testing.T) {
	t.Parallel()
	k := open(t)
	p, h := k.Person(), k.Agent("autonomous")
	if _, err := p.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "wifi", Text: "# Wifi\n\nNetwork: demo\npassword: Zx81kQmT2vLb\n", Exact: true}); err != nil {
		t.Fatal(err)
	}
	n, err := h.Knowledge.Read(t.Context(), "wifi")
	if err != nil || strings.Contains(n.Text, "Zx81") || len(marksIn(n.Text)) != 1 {
		t.Fatalf("got %q, %v", n.Text, err)
	}
	if _, err := h.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "wifi", Text: strings.Replace(n.Text, "demo", "home", 1), Base: n.Hash}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Knowledge.Append(t.Context(), "wifi", "more\n"); err != nil {
		t.Fatal(err)
	}
	mine, err := p.Knowledge.Read(t.Context(), "wifi")
	if err != nil || !strings.Contains(mine.Text, "Network: home\npassword: Zx81kQmT2vLb\n") || !strings.Contains(mine.Text, "more") {
		t.Errorf("got %q, %v", mine.Text, err)
	}
	_, err = h.Knowledge.Append(t.Context(), "wifi", "The word is [secret:password#1-zzzz]\n")
	wantCode(t, "made up", err, sys.CodeConflict, "Nothing was written")
}

func TestAMemoryMasksForGood(t *testing.T) {
	t.Parallel()
	h := open(t).Agent("autonomous")
	m, err := h.Memory.Remember(t.Context(), kernel.MemoryInput{Text: "The token is [secret:API_TOKEN#2-abcd], the password=Zx81kQmT2vLb"})
	if err != nil || m.Text != "The token is [secret:API_TOKEN], the password=[secret:password]" {
		t.Errorf("got %q, %v", m.Text, err)
	}
}

// changeDiff is what the first file that an agent changed looks like to a person.
func changeDiff(t *testing.T, k *kerneltest.Kernel, h *kernel.Handle) string {
	t.Helper()
	changes, err := k.Person().Agents.Changes(t.Context(), h.Principal().ID)
	if err != nil || len(changes) != 1 {
		t.Fatalf("got %+v, %v, want one change", changes, err)
	}
	return changes[0].Diff
}

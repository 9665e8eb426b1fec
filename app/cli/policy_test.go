package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"oxios/kernel"
)

// Nothing of it needs an Oxios: the kernel cannot even be opened here.
func policyDesk(t *testing.T) *desk {
	d := setup(t)
	d.deps.Open = nil
	return d
}

func TestPolicySaysVerdictTierReasonAndPart(t *testing.T) {
	t.Parallel()
	d := policyDesk(t)
	for _, tt := range []struct {
		args []string
		says []string
	}{
		{[]string{"command", "ls -la"}, []string{"safe-readonly (tier 0): only looks"}},
		{[]string{"command", "ls; sudo rm x"}, []string{"dangerous (tier 3): asks for administrator rights", "sudo rm x"}},
		{[]string{"command", "--shell", "powershell", "Get-ChildItem"}, []string{"needs-approval (tier 2)"}},
		{[]string{"command", "cat ../notes", "--folder", "/srv/x/y"}, []string{"needs-approval", "outside"}},
		{[]string{"path", "notes.md", "--op", "write"}, []string{"allow (tier 0)"}},
		{[]string{"path", "~/.ssh/id_ed25519"}, []string{"deny (tier 3)", ".ssh"}},
		{[]string{"path", filepath.Join(d.Home, "config.toml")}, []string{"deny (tier 3)", "Oxios"}},
		{[]string{"url", "http://0x7f.1/"}, []string{"block (tier 3)", "0x7f.1"}},
		{[]string{"url", "http://192.168.1.10/"}, []string{"block (tier 2)", "your own network"}},
		{[]string{"url", "http://192.168.1.10/", "--grant", "192.168.1.0/24"}, []string{"allow (tier 0)"}},
		{[]string{"url", "http://192.168.1.10/", "--grant", "192.168.1.10"}, []string{"allow"}},
		{[]string{"redact", "password=hunter2x"}, []string{"password=[secret:password]\n"}},
	} {
		if r := d.do(append([]string{"policy"}, tt.args...)...); r.code != 0 || r.err != "" {
			t.Errorf("%v: got %+v", tt.args, r)
		} else {
			contains(t, strings.Join(tt.args, " "), r.out, tt.says...)
		}
	}
	d.env["LANG"] = "ko_KR.UTF-8"
	contains(t, "Korean", d.must(0, "policy", "command", "sudo ls").out, "등급 3", "관리자 권한")
	v := decode[kernel.PolicyVerdict](t, d.must(0, "policy", "command", "sudo ls", "--json").out)
	if v.Verdict != kernel.PolicyDangerous || v.Tier != 3 || v.Reason == "" || v.ReasonKO == "" || v.Part != "sudo ls" {
		t.Errorf("--json: got %+v", v)
	}
}

func TestPolicyRefusesAWrongCommandLine(t *testing.T) {
	t.Parallel()
	d := policyDesk(t)
	for _, args := range [][]string{
		{"command"}, {"command", "a", "b"}, {"command", "ls", "--shell", "fish"}, {"command", "ls", "--batch", "-"}, {"url"}, {"url", "http://x.example/", "--grant", "home"}, {"path"},
	} {
		if r := d.do(append([]string{"policy"}, args...)...); r.code != exitUsage || r.out != "" || r.err == "" {
			t.Errorf("%v: got %+v, want exit code 2", args, r)
		}
	}
	if r := d.do("policy", "command", "--batch", "nowhere.jsonl"); r.code != exitFailed || !strings.Contains(r.err, "nowhere.jsonl") {
		t.Errorf("got %+v, want a failure that names the file", r)
	}
}

func TestPolicyBatchGoesOnAfterAMalformedLine(t *testing.T) {
	t.Parallel()
	d := policyDesk(t)
	long := `{"cmd":"` + strings.Repeat("x", maxBatchLine) + `"}`
	in := strings.Join([]string{`{"id":"a","cmd":"ls"}`, `{"id":"b","cmd":`, ``, `{"id":3,"cmd":"rm -rf /"}`, `{"id":"d"}`, `[]`, long, "\x00\xff", `{"id":"e","cmd":"make","shell":"cmd"}`}, "\n")
	r := d.with(typing{stdin: strings.NewReader(in)}, "policy", "command", "--batch", "-")
	if r.code != exitFailed {
		t.Errorf("got exit code %d, want %d", r.code, exitFailed)
	}
	for i, line := range strings.Split(strings.TrimSpace(r.out), "\n") {
		want := []string{`{"id":"a","verdict":"safe-readonly","tier":0,`, `{"id":3,"verdict":"dangerous","tier":3,`, `{"id":"e","verdict":"needs-approval","tier":2,`}
		if i >= len(want) || !strings.HasPrefix(line, want[i]) {
			t.Errorf("line %d: got %s", i+1, line)
		}
	}
	contains(t, "stderr", r.err, "Line 2:", "Line 5:", `"cmd" is missing`, "Line 6:", "Line 7:", "8 MB", "Line 8:")
	if strings.Count(r.err, "Line ") != 5 {
		t.Errorf("got %s, want five bad lines", r.err)
	}
}

func TestPolicyBatchOfEachKind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows gives out no links")
	}
	d := policyDesk(t)
	trees := filepath.Join(d.dir, "path_fs_trees.json")
	if err := os.WriteFile(trees, []byte(`{"@t":["a => $OUT","b/"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(d.dir, "rows.jsonl")
	for _, tt := range []struct{ command, row, want string }{
		{"url", `{"id":1,"url":"https://x.test/","dns":{"x.test":[["93.184.216.34"]]}}`, `{"id":1,"verdict":"allow","tier":0,`},
		{"url", `{"id":1,"url":"https://x.test/","dns":{"x.test":[["93.184.216.34"],["10.0.0.1"]]}}`, `{"id":1,"verdict":"block","tier":3,`},
		{"url", `{"id":1,"url":"https://x.test/","dns":{"x.test":[["93.184.216.34"]]},"redirect":["302 http://127.0.0.1/"]}`, `{"id":1,"verdict":"block","tier":`},
		{"path", `{"id":1,"kind":"policy","op":"write","path":".bashrc"}`, `{"id":1,"verdict":"deny","tier":3,`},
		{"path", `{"id":1,"kind":"fs","op":"open","path":"a/secret","fs":["@t"],"expect":"contained"}`, `{"id":1,"verdict":"deny","tier":3,`},
		{"path", `{"id":1,"kind":"fs","op":"create","path":"b/x","fs":["@t"],"expect":"allow"}`, `{"id":1,"verdict":"allow","tier":0,`},
		{"path", `{"id":1,"kind":"fs","op":"create","path":"b/x","fs":["@t"],"expect":"contained"}`, `{"id":1,"verdict":"contained","tier":0,`},
		{"path", `{"id":1,"kind":"fs","op":"open","path":"x","fs":["fifo:x"],"expect":"error"}`, `{"id":1,"verdict":"error","tier":3,`},
		{"path", `{"id":1,"kind":"archive","op":"extract","path":"x"}`, `{"id":1,"verdict":"deny","tier":3,`},
		{"redact", `{"id":1,"text":"password=hunter2x"}`, `{"id":1,"text":"password=[secret:password]"}`},
	} {
		if err := os.WriteFile(file, []byte(tt.row), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := d.must(0, "policy", tt.command, "--batch", file); !strings.HasPrefix(r.out, tt.want) || !json.Valid([]byte(r.out)) {
			t.Errorf("%s: got %s, want %s", tt.row, r.out, tt.want)
		}
	}
	if r := d.with(typing{stdin: strings.NewReader(`{"id":1,"kind":"fs","op":"open","path":"x","fs":["@t"]}`)}, "policy", "path", "--batch", "-"); r.code != exitFailed || !strings.Contains(r.err, "@t") {
		t.Errorf("a tree that nobody named: got %+v", r)
	}
}

// Lines that never end take no memory, and each is answered before the next
// one is written.
func TestPolicyBatchStreams(t *testing.T) {
	t.Parallel()
	d := policyDesk(t)
	lines, writes := io.Pipe()
	reads, answers := io.Pipe()
	done := make(chan result, 1)
	go func() {
		r := d.with(typing{stdin: lines, out: answers}, "policy", "command", "--batch", "-")
		answers.Close()
		done <- r
	}()
	answered := json.NewDecoder(reads)
	for i := range 1000 {
		if _, err := fmt.Fprintf(writes, "{\"id\":%d,\"cmd\":\"ls; true\"}\n", i); err != nil {
			t.Fatal(err)
		}
		var v kernel.PolicyVerdict
		if err := answered.Decode(&v); err != nil || string(v.ID) != fmt.Sprint(i) {
			t.Fatalf("line %d: got %s, %v", i, v.ID, err)
		}
	}
	writes.Close()
	if r := <-done; r.code != 0 {
		t.Errorf("got %+v", r)
	}
}

package security

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSettingsThatStartProgramsAreTakenOutOfAFile(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"[core]\n\tbare = false\n\tfsmonitor = /tmp/x\n":                                 "core.fsmonitor",
		"[core] fsmonitor=x\n":                                                           "core.fsmonitor",
		"[CORE]\nFSMonitor = \\\n  x\n":                                                  "core.fsmonitor",
		"[core \"a\"]\nhookspath=x":                                                      "core.a.hookspath",
		"[core]\n\thooksPath = .husky\n":                                                 "core.hookspath",
		"[include]\npath = ../x\n[includeIf \"gitdir:/\"]\npath=y\n":                     "include.path includeif.gitdir:/.path",
		"[filter \"x\"]\nclean = a\nsmudge = b\nrequired\n":                              "filter.x.clean filter.x.smudge filter.x.required",
		"[filter.x]\nclean = a\n":                                                        "filter.x.clean",
		"[diff \"x\"]\ntextconv = a\n[merge \"x\"]\ndriver = a %A\n[diff]\nexternal = z": "diff.x.textconv merge.x.driver diff.external",
		"[alias]\nx = !id\ny = log --oneline\n":                                          "alias.x",
		"[core]\nsshCommand = x\neditor = x\npager = x\naskpass = x\ngitproxy=x\n":       "core.sshcommand core.editor core.pager core.askpass core.gitproxy",
		"[credential]\nhelper = x\n[gpg]\nprogram = x\n[sequence]\neditor = x\n":         "credential.helper gpg.program sequence.editor",
		"[remote \"o\"]\nurl = ext::sh -c id\nuploadpack = x\nfetch = +a:b\n":            "remote.o.url remote.o.uploadpack",
		"[submodule \"s\"]\nurl = ../x\nupdate = !id\n[pager]\nlog = id\n":               "submodule.s.update pager.log",
		"[extensions]\npartialClone = o\n[remote \"o\"]\npromisor = true\npartialclonefilter = blob:none\n[checkout]\nworkers = 2\n[http]\npostBuffer = 1\nproxy = x\n":                                                                                      "http.proxy",
		"[core]\nbare = false # [core] fsmonitor = x\n; fsmonitor = y\n":                                                                                                                                                                                     "",
		"[core]\nrepositoryformatversion = 0\nfsmonitor = true\n[user]\nname = \"a; [core]\"\nemail = e\n[remote \"origin\"]\nurl = https://x/y\nfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\nremote = origin\nmerge = refs/heads/main\n": "",
	} {
		rest, taken, ok := GitWithout([]byte(raw), nil)
		if !ok || strings.Join(taken, " ") != want {
			t.Errorf("%q: got %q, %v, want %q", raw, taken, ok, want)
		}
		if _, again, ok := GitWithout(rest, nil); !ok || len(again) != 0 {
			t.Errorf("%q: of the rest %q %q is left", raw, rest, again)
		}
		if want == "" && string(rest) != raw {
			t.Errorf("%q: got %q", raw, rest)
		}
		if _, taken, ok := GitWithout([]byte(raw), []byte(raw)); !ok || len(taken) != 0 {
			t.Errorf("%q: %q was there before", raw, taken)
		}
	}
	for _, raw := range []string{"[core\nx = y", "x = y", "[core]\nx = \"y", "[core]\n= y", "[core]\nx = \\q", "[a \"b\nc\"]"} {
		if _, _, ok := GitWithout([]byte(raw), nil); ok {
			t.Errorf("%q: understood", raw)
		}
	}
}

// What git reads from a file is what is found in it.
func TestSettingsAreReadAsGitReadsThem(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	raw := "\uFEFF[core]\r\n\tbare=false\r\n\tx = a \"b  # c\" d  # no\r\n[a \"B.c\\\"\"] k1\nk2 = \\\"q\\\\ \\\n  more\n[S.Sub]\nkey-3=  v w ; no\nk4 = \"\"\n"
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "config", "--file", file, "-z", "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	list, ok := ParseGitSettings([]byte(raw))
	var got strings.Builder
	for _, s := range list {
		got.WriteString(s.Key)
		if s.Value != "true" || s.Key != `a.B.c".k1` {
			got.WriteString("\n" + s.Value)
		}
		got.WriteByte(0)
	}
	if !ok || got.String() != string(out) {
		t.Errorf("got %q, %v, want %q", got.String(), ok, out)
	}
}

func TestProgramsOfAWaitingRebaseAreTakenOut(t *testing.T) {
	t.Parallel()
	raw := "pick a1 one\n exec make\nx\ttouch y\nexec old\nfixup a2 x\n# exec z\n"
	if rest, taken := GitTodoWithout([]byte(raw), []byte("exec old\n")); taken != 2 || string(rest) != "pick a1 one\nexec old\nfixup a2 x\n# exec z\n" {
		t.Errorf("got %d and %q", taken, rest)
	}
}

package kernel_test

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"testing"

	"oxios/kernel"
)

type addressRow struct {
	ID, URL, Expect, Technique, Note string
	DNS                              kernel.PolicyDNS
	Redirect                         kernel.PolicyRedirects
}

func TestAddressCorpus(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("security/testdata/ssrf.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var blocks, allows, allowed int
	for line := range bytes.Lines(raw) {
		var row addressRow
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		v := kernel.PolicyURLTrial(t.Context(), row.URL, row.DNS, row.Redirect, nil)
		if v.Reason == "" || v.ReasonKO == "" || v.Verdict == kernel.PolicyBlock && v.Part == "" && row.URL != "" {
			t.Errorf("%s %q: got %+v, want the part and the reason in both languages", row.ID, row.URL, v)
		}
		for _, d := range v.Dialled { // only the public machine that leads on may be reached
			at := netip.MustParseAddrPort(d)
			if public := netip.MustParsePrefix("93.184.216.0/24"); row.Expect == kernel.PolicyBlock && (len(row.Redirect) == 0 || !public.Contains(at.Addr())) {
				t.Errorf("%s %q: dialled %s for an address that is to be blocked", row.ID, row.URL, d)
			}
		}
		switch row.Expect {
		case kernel.PolicyBlock:
			blocks++
			if v.Verdict != kernel.PolicyBlock {
				t.Errorf("%s %s %q: got %+v, want it blocked", row.ID, row.Technique, row.URL, v)
			}
		case kernel.PolicyAllow:
			allows++
			if v.Verdict == kernel.PolicyAllow {
				allowed++
			} else {
				t.Logf("blocked though harmless: %s %q: %s (%s)", row.Technique, row.URL, v.Reason, row.Note)
			}
		default:
			t.Errorf("%s: it expects %q", row.ID, row.Expect)
		}
	}
	t.Logf("%d to block, %d of %d to allow were allowed", blocks, allowed, allows)
	if allowed*100 < allows*95 || blocks < 100 {
		t.Errorf("got %d of %d allowed and %d to block, want at least 95 %% and all rows", allowed, allows, blocks)
	}
}

func TestTrialOfAnAddressBringsItsOwnAnswers(t *testing.T) {
	t.Parallel()
	dns := `{"a.test":[["93.184.216.34"]],"B.test.":["CNAME c.test"],"c.test":[["93.184.216.35"]],"d.test":[["93.184.216.34"],["10.0.0.1"]],"e.test":["CNAME e.test"],"f.test":[["93.184.216.34"],["93.184.216.34"],["93.184.216.35"],["127.0.0.1"]]}`
	for _, tt := range []struct {
		url       string
		redirects []string
		want      string
		dialled   int
	}{
		{"https://a.test/", nil, kernel.PolicyAllow, 1},
		{"https://b.test/", nil, kernel.PolicyAllow, 1},
		{"https://e.test/", nil, kernel.PolicyBlock, 0},
		{"https://f.test/", nil, kernel.PolicyBlock, 0},
		{"https://nobody.test/", nil, kernel.PolicyBlock, 0},
		{"https://d.test/", nil, kernel.PolicyBlock, 0},
		{"https://a.test/", []string{"302 /next"}, kernel.PolicyAllow, 2},
		{"https://a.test/", []string{"302 //b.test/x", "301 https://a.test/y"}, kernel.PolicyAllow, 3},
		{"https://a.test/", []string{"302 http://b.test/"}, kernel.PolicyBlock, 1},
		{"https://a.test/", []string{"302 https://d.test/"}, kernel.PolicyBlock, 1},
		{"https://a.test/", []string{"302 /1", "302 /2", "302 /3", "302 /4", "302 /5", "302 /6"}, kernel.PolicyBlock, 6},
		{"https://a.test/", []string{"302 https://a.test/ (loop)"}, kernel.PolicyBlock, 1},
		{"https://a.test/", []string{"Refresh: 5; URL='http://127.0.0.1/'"}, kernel.PolicyBlock, 1},
		{"https://a.test/", []string{`302 https://b.test\@127.0.0.1/`}, kernel.PolicyBlock, 1},
		{"https://a.test/", []string{"302 https:127.0.0.1/"}, kernel.PolicyBlock, 1},
		{"https://a.test/", []string{"304"}, kernel.PolicyAllow, 1},
		{"https://a.test/", []string{"not an answer"}, kernel.PolicyBlock, 1},
	} {
		var d kernel.PolicyDNS
		if err := json.Unmarshal([]byte(dns), &d); err != nil {
			t.Fatal(err)
		}
		if v := kernel.PolicyURLTrial(t.Context(), tt.url, d, tt.redirects, nil); v.Verdict != tt.want || len(v.Dialled) != tt.dialled {
			t.Errorf("%s %q: got %+v, want %s after %d machines", tt.url, tt.redirects, v, tt.want, tt.dialled)
		}
	}
}

func TestGrantOpensTheOwnNetworkAndNothingElse(t *testing.T) {
	t.Parallel()
	dns := kernel.PolicyDNS{"nas.local": {{"192.168.1.5"}}, "other.local": {{"192.168.2.5"}}, "public.local": {{"93.184.216.34"}}, "meta.example.com": {{"169.254.169.254"}}}
	granted := []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24"), netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("169.254.0.0/16")}
	for url, want := range map[string]string{
		"http://192.168.1.9/": kernel.PolicyAllow, "http://[::ffff:192.168.1.9]/": kernel.PolicyAllow, "http://127.0.0.1:8080/": kernel.PolicyAllow, "http://nas.local/": kernel.PolicyAllow,
		"http://192.168.2.9/": kernel.PolicyBlock, "http://127.0.0.2/": kernel.PolicyBlock, "http://other.local/": kernel.PolicyBlock, "http://public.local/": kernel.PolicyBlock,
		"http://169.254.169.254/": kernel.PolicyBlock, "http://meta.example.com/": kernel.PolicyBlock, "http://metadata.google.internal/": kernel.PolicyBlock, "http://0x7f.1/": kernel.PolicyBlock,
	} {
		if v := kernel.PolicyURLTrial(t.Context(), url, dns, nil, granted); v.Verdict != want {
			t.Errorf("%s: got %+v, want %s", url, v, want)
		}
	}
}

func TestPolicyOfAPathFollowsLinks(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	folder := home + "/work"
	for _, dir := range []string{folder, home + "/.ssh"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(home+"/.ssh", folder+"/keys"); err != nil {
		t.Skip("this system has no links")
	}
	p := kernel.PolicyPlace{Folder: folder, Home: home, OxiosHome: home + "/.oxios"}
	for _, tt := range []struct{ name, op, want string }{
		{"notes.md", "write", kernel.PolicyAllow},
		{"keys/deploy", "read", kernel.PolicyDeny},
		{"~/.ssh/id_rsa", "read", kernel.PolicyDeny},
		{"/srv/x", "read", kernel.PolicyAsk},
		{".git/hooks/x", "write", kernel.PolicyDeny},
		{".git/hooks/x", "read", kernel.PolicyAllow},
		{"Makefile", "write", kernel.PolicyAsk},
		{"~/.oxios/config.toml", "stat", kernel.PolicyDeny},
	} {
		if v := p.Path(tt.name, tt.op, true); v.Verdict != tt.want || v.Reason == "" || v.ReasonKO == "" {
			t.Errorf("%s %s: got %+v, want %s", tt.op, tt.name, v, tt.want)
		}
	}
	for name, want := range map[string]string{"/etc/hosts": "uses files outside the folder", "/etc/shadow": "reads passwords or keys"} {
		if v := p.Path(name, "read", false); v.Reason != want {
			t.Errorf("read %s: got %q, want %q", name, v.Reason, want)
		}
	}
	if v := p.Path("keys/deploy", "read", false); v.Verdict != kernel.PolicyAllow {
		t.Errorf("by its text alone: got %+v, want allow", v)
	}
}

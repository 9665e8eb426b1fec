package kernel

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// PolicyVerdict is what policy says about something that is not done. Tier is
// as in [security.Tier]. Part is the piece that is the reason.
type PolicyVerdict struct {
	ID       json.RawMessage `json:"id,omitempty"`
	Verdict  string          `json:"verdict"`
	Tier     security.Tier   `json:"tier"`
	Reason   string          `json:"reason"`
	ReasonKO string          `json:"reason_ko,omitempty"`
	Part     string          `json:"part,omitempty"`
	Dialled  []string        `json:"dialled,omitempty"` // for a URL, the machines that would have been reached
}

// The verdicts. Those of a command are in order of severity, so are those of a
// path; an address is allowed or blocked.
const (
	PolicySafe      = "safe-readonly"
	PolicyApproval  = "needs-approval"
	PolicyDangerous = "dangerous"
	PolicyAllow     = "allow"
	PolicyAsk       = "ask"
	PolicyDeny      = "deny"
	PolicyBlock     = "block"
)

// PolicyPlace is where policy is asked from. Every folder is absolute.
type PolicyPlace struct {
	Folder    string // the folder of the run
	Home      string // of the person
	OxiosHome string
}

// Command judges a command line, which is not run. shell is bash, the default,
// powershell or cmd.
func (p PolicyPlace) Command(line, shell string) PolicyVerdict {
	v := security.ClassifyCommand(line, security.CommandOptions{Shell: shell, Dir: p.Folder, Home: p.Home, OxiosHome: p.OxiosHome})
	verdict := PolicyApproval
	switch {
	case v.Tier >= security.TierRefuse:
		verdict = PolicyDangerous
	case v.Tier <= security.TierTell && v.ReadOnly:
		verdict = PolicySafe
	}
	return PolicyVerdict{Verdict: verdict, Tier: v.Tier, Reason: v.Reason, ReasonKO: v.ReasonKO, Part: v.Part}
}

// PathReadOps are the operations that only look; all others change something.
var PathReadOps = []string{"read", "open", "stat", "list", "glob", "watch", "copy-from"}

// Path judges an operation on a path by where it is written and, with real, by
// where its links lead on this machine.
func (p PolicyPlace) Path(name, op string, real bool) PolicyVerdict {
	v := security.Classify(name, p.Folder, p.Home, p.OxiosHome)
	if real {
		v = worse(security.ClassifyFile(realPath(filepath.FromSlash(v.Abs)), p.Folder, p.Home, p.OxiosHome), v)
	}
	tier := v.Write
	if slices.Contains(PathReadOps, op) {
		tier = v.Read
		v.Reason, v.ReasonKO = v.ReadReason()
	}
	out := PolicyVerdict{Verdict: PolicyAllow, Tier: tier, Part: v.Abs, Reason: v.Reason, ReasonKO: v.ReasonKO}
	switch {
	case tier >= security.TierRefuse:
		out.Verdict = PolicyDeny
	case tier >= security.TierAsk:
		out.Verdict = PolicyAsk
	default:
		out.Reason, out.ReasonKO = "lies inside the folder", "폴더 안에 있습니다"
	}
	return out
}

// Name servers and machines that a trial of an address brings.
type (
	// PolicyDNS are the answers to a name: one list for each time that it is
	// asked for, the last of them for ever. "CNAME x" is the answer for x.
	PolicyDNS map[string][][]string

	// PolicyRedirects are the answers of the machines, in order: "302 ADDRESS",
	// with " (loop)" at its end again and again, or a header as "refresh: …".
	PolicyRedirects []string
)

// PolicyURL judges an address with the system's name service. Nobody is dialled.
// granted are the addresses that the person would have opened.
func PolicyURL(ctx context.Context, address string, granted []netip.Prefix) PolicyVerdict {
	return policyURL(ctx, address, &security.NetGuard{Granted: granted}, nil)
}

// PolicyURLTrial judges an address with answers that it brings along. Nothing
// is looked up and nobody is dialled. The address is asked for again until each
// answer of a name was given, as the first one that leads inside is what counts.
func PolicyURLTrial(ctx context.Context, address string, dns PolicyDNS, redirects PolicyRedirects, granted []netip.Prefix) PolicyVerdict {
	asked := map[string]int{}
	guard := &security.NetGuard{Granted: granted, Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
		return dns.answer(name, asked)
	}}
	for {
		v := policyURL(ctx, address, guard, redirects)
		left := false
		for name, times := range asked {
			left = left || times < len(dns[name])
		}
		if v.Verdict == PolicyBlock || !left {
			return v
		}
	}
}

func policyURL(ctx context.Context, address string, guard *security.NetGuard, redirects PolicyRedirects) PolicyVerdict {
	var dialled []string
	machine := &fakeMachine{answers: redirects}
	guard.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		here, there := net.Pipe()
		go machine.serve(there)
		return here, nil
	}
	v := guard.Look(ctx, address)
	out := PolicyVerdict{Verdict: PolicyBlock, Tier: v.Tier, Reason: v.Reason, ReasonKO: v.ReasonKO, Part: v.Part, Dialled: dialled}
	if v.Allowed {
		out.Verdict = PolicyAllow
	}
	return out
}

var errNoAnswer = errors.New("no such name")

func (d PolicyDNS) answer(name string, asked map[string]int) ([]netip.Addr, error) {
	for range 8 { // as many names may stand for another one
		answers, ok := d[name]
		switch {
		case name == "localhost":
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}, nil
		case !ok || len(answers) == 0:
			return nil, errNoAnswer
		}
		now := answers[min(asked[name], len(answers)-1)]
		asked[name]++
		if len(now) == 1 {
			if alias, ok := strings.CutPrefix(now[0], "CNAME "); ok {
				name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(alias)), ".")
				continue
			}
		}
		addrs := make([]netip.Addr, 0, len(now))
		for _, s := range now {
			a, err := netip.ParseAddr(s)
			if err != nil {
				return nil, err
			}
			addrs = append(addrs, a)
		}
		return addrs, nil
	}
	return nil, errNoAnswer
}

// UnmarshalJSON reads answers, where a name stands in place of a list too.
func (d *PolicyDNS) UnmarshalJSON(data []byte) error {
	var raw map[string][]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*d = PolicyDNS{}
	for name, answers := range raw {
		name = strings.TrimSuffix(strings.ToLower(name), ".")
		for _, a := range answers {
			var list []string
			if err := json.Unmarshal(a, &list); err != nil {
				var one string
				if err := json.Unmarshal(a, &one); err != nil {
					return err
				}
				list = []string{one}
			}
			(*d)[name] = append((*d)[name], list)
		}
	}
	return nil
}

// fakeMachine answers in place of every machine that would be dialled.
type fakeMachine struct {
	answers PolicyRedirects
	next    int
}

func (m *fakeMachine) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // it is a pipe
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	_ = req.Body.Close() // a GET has none
	status, header := "200 OK", ""
	if m.next < len(m.answers) {
		answer := m.answers[m.next]
		if again, ok := strings.CutSuffix(answer, "(loop)"); ok {
			answer = strings.TrimSpace(again)
		} else {
			m.next++
		}
		status, header = readAnswer(answer)
	}
	fmt.Fprintf(conn, "HTTP/1.1 %s\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n", status, header)
}

// readAnswer reads an answer of a trial: a status and where it leads, or a
// header.
func readAnswer(answer string) (status, header string) {
	answer = strings.NewReplacer("\r", "", "\n", "").Replace(answer)
	code, rest, _ := strings.Cut(answer, " ")
	if len(code) == 3 && strings.Trim(code, "0123456789") == "" {
		if rest == "" {
			return code + " -", ""
		}
		return code + " -", "Location: " + rest + "\r\n"
	}
	return "200 OK", answer + "\r\n"
}

// PathTrial is an operation on a file that is tried in a made-up folder.
type PathTrial = security.PathTrial

// PathTrees reads the named trees that trials of paths may use.
func PathTrees(data []byte) (map[string][]string, error) { return security.ReadTrees(data) }

// PolicyPathTrial tries an operation of the file tools in a folder that is made
// for it. expect is what the asker calls an effect that stays inside; without
// it, such a one is allowed.
func PolicyPathTrial(p PathTrial, expect string, trees map[string][]string) (PolicyVerdict, error) {
	if p.Kind == "archive" {
		return PolicyVerdict{Verdict: PolicyDeny, Tier: security.TierRefuse, Reason: "Oxios unpacks no archives", ReasonKO: "Oxios는 압축을 풀지 않습니다", Part: p.Path}, nil
	}
	got, why, err := security.TryPath(p, trees)
	if err != nil {
		return PolicyVerdict{}, err
	}
	v := PolicyVerdict{Verdict: got, Part: p.Path, Reason: "it stayed inside the folder", ReasonKO: "폴더 안에 머물렀습니다"}
	switch got {
	case security.TrialInside:
		if expect != security.TrialInside {
			v.Verdict = PolicyAllow
		}
	case security.TrialDenied:
		e := sys.AsError(why)
		v.Tier, v.Reason, v.ReasonKO = security.TierRefuse, cmp.Or(e.Message, why.Error()), ""
		if expect == "error" {
			v.Verdict = expect
		}
	default:
		v.Tier, v.Reason, v.ReasonKO = security.TierRefuse, "it left the folder or did not come back", "폴더를 벗어났거나 돌아오지 않았습니다"
	}
	return v, nil
}

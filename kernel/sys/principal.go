package sys

// Kind says what sort of caller a [Principal] is.
type Kind string

// The kinds of principals.
const (
	KindPerson   Kind = "person"   // the owner of the home, in the window, a terminal or the served page
	KindAgent    Kind = "agent"    // one run
	KindGuardian Kind = "guardian" // the kernel's own periodic checks
	KindMemory   Kind = "memory"   // the kernel, which keeps the memories of what was said
	KindClient   Kind = "client"   // a program that uses Oxios from outside, with the scopes that the person gave it
	KindApp      Kind = "app"      // a page that a server of tools gave with a result, in the conversation
)

// Principal is who a call is made for. The zero value may do nothing.
type Principal struct {
	Kind    Kind   `json:"kind"`
	ID      string `json:"id"`                // the run's id for an agent, the client's for a program, the server's for an app, "person" for the person
	Name    string `json:"name,omitempty"`    // what a person reads
	Profile string `json:"profile,omitempty"` // an agent's rights: worker, standard, operator, supervisor
	Via     string `json:"via,omitempty"`     // the face: window, page, terminal, notification
}

// Person is the owner of the home, speaking through a face.
func Person(via string) Principal {
	return Principal{Kind: KindPerson, ID: "person", Name: "person", Via: via}
}

// Actor is the principal's name in the audit chain.
func (p Principal) Actor() string {
	switch p.Kind {
	case KindAgent:
		return "agent:" + p.ID
	case KindClient:
		return "client:" + p.Name
	case KindApp:
		return "app:" + p.Name
	default:
	}
	if p.Via != "" {
		return string(p.Kind) + ":" + p.Via
	}
	return string(p.Kind)
}

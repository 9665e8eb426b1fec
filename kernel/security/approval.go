package security

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The states of an [Approval].
const (
	ApprovalPending  = "pending"  // waits for a person
	ApprovalApproved = "approved" // may be used
	ApprovalDenied   = "denied"   // a person said no
	ApprovalExpired  = "expired"  // nobody answered, or nobody used it, in time
	ApprovalCanceled = "canceled" // its run ended, or a person took it back
	ApprovalUsed     = "used"     // given once, and used
)

// The scopes of an [Approval].
const (
	ScopeOnce = "once" // for this call, one time
	ScopeRun  = "run"  // for the identical call, as often as the run makes it
)

// Request is a call that needs a person, as the person sees it. All of it is
// stored: the card can be drawn again after a restart.
type Request struct {
	ID         string        `json:"-"`    // of the approval that it becomes; made up if empty
	Call       string        `json:"call"` // the syscall: exec.command
	Hash       string        `json:"hash"` // binds the approval to the exact call: [RequestHash]
	Effect     Effect        `json:"effect"`
	Tier       Tier          `json:"tier"`
	Title      string        `json:"title"`    // the effect in words: "Deletes files in Downloads"
	TitleKO    string        `json:"title_ko"` // the same in Korean
	Command    string        `json:"command,omitempty"`
	Argv       []string      `json:"argv,omitempty"`
	Dir        string        `json:"dir,omitempty"`
	Path       string        `json:"path,omitempty"`
	Diff       string        `json:"diff,omitempty"`
	Programs   []string      `json:"programs,omitempty"`   // every program that the command would start
	Executable string        `json:"executable,omitempty"` // the file that the first of them is
	Claim      string        `json:"claim,omitempty"`      // what the agent says about it; never trusted
	Why        string        `json:"why,omitempty"`        // what Oxios knows about it
	WhyKO      string        `json:"why_ko,omitempty"`     // the same in Korean
	Network    bool          `json:"network"`
	Host       string        `json:"host,omitempty"`      // the machine of a request that the agent worded itself: a yes of [ScopeRun] covers all of it for the run
	Own        []string      `json:"own,omitempty"`       // addresses of the own machine or network that it wants to reach and that are not open; a yes opens those of a page, for it alone
	Ports      []int         `json:"ports,omitempty"`     // ports of this computer that a command reaches, or serves on, once it has the network
	Elsewhere  string        `json:"elsewhere,omitempty"` // the machine that does it and gets all of it; nothing of it runs here
	Outside    []string      `json:"outside,omitempty"`   // paths outside the folder
	Contained  sys.Isolation `json:"contained"`           // the isolation that it would run under
	Guarded    bool          `json:"guarded,omitempty"`   // what a command reaches of the network passes the guard: public machines, and Ports
	Undo       string        `json:"undo"`                // "no", or how it can be undone
	UndoKO     string        `json:"undo_ko,omitempty"`   // the same in Korean
	Agent      string        `json:"agent,omitempty"`
	Ancestry   []string      `json:"ancestry,omitempty"` // the agent's parents, the nearest first
	Spent      *store.Cost   `json:"spent,omitempty"`    // by the run until it asked, without that of its forks
	Hidden     bool          `json:"hidden"`             // a glob, an expansion or "..": only Review may be offered outside the card
	Simple     bool          `json:"simple"`             // a notification may offer Approve and Deny
	RunID      string        `json:"run_id,omitempty"`
	SessionID  string        `json:"session_id,omitempty"`
	StepID     string        `json:"step_id,omitempty"`

	// Questions make it one that asks what only the person can say, before work
	// begins: an answer approves it, and an approval without one leaves them open.
	Questions []Question `json:"questions,omitempty"`

	// Form makes it one that a server of tools asks in the middle of a call: values are sent to it, or the person declines.
	Form *Form `json:"form,omitempty"`

	Labels Labels `json:"labels,omitempty"` // where what its run has read came from

	Try bool `json:"try,omitempty"` // it can be tried on a copy of its folder first

	Kind     *Kind  `json:"kind,omitempty"`    // what a grant could be given for
	NoKind   string `json:"no_kind,omitempty"` // or why none can
	NoKindKO string `json:"no_kind_ko,omitempty"`

	Project bool   `json:"project,omitempty"`  // it runs code of its folder, which is not part of what is shown
	NoRun   bool   `json:"no_run,omitempty"`   // it cannot be approved for a whole run
	Again   string `json:"again,omitempty"`    // why it is asked again; Diff shows what changed
	AgainKO string `json:"again_ko,omitempty"` // the same in Korean

	Basis *Basis `json:"-"` // what it stands on; nil for what is no command
}

// Question is something that an agent asks the person.
type Question struct {
	Text    string   `json:"text"`
	Part    string   `json:"part"` // goal, constraints or criteria: what is unclear without it
	Options []string `json:"options,omitempty"`
}

// Answers are what a person said to the questions of a [Request].
type Answers struct {
	Given  []string `json:"given"`            // one for each question, in their order; "" leaves it open
	Text   string   `json:"text,omitempty"`   // their own words, about all of them
	Assume bool     `json:"assume,omitempty"` // what is left open may be assumed

	Values json.RawMessage `json:"values,omitempty"` // to a [Form]: an object of them, by name
	Action string          `json:"action,omitempty"` // to a [Form]: "" sends the values
}

// Approval is a [Request] and what became of it.
type Approval struct {
	ID        string     `json:"id"`
	Request   Request    `json:"request"`
	State     string     `json:"state"`
	Scope     string     `json:"scope"`
	DecidedBy string     `json:"decided_by"`
	Comment   string     `json:"comment"`    // the person's words to the agent, or why it ended
	CreatedAt time.Time  `json:"created_at"` // times have milliseconds
	ExpiresAt time.Time  `json:"expires_at"` // when the question, or an approval that was given, ends
	DecidedAt *time.Time `json:"decided_at,omitempty"`
	UsedAt    *time.Time `json:"used_at,omitempty"` // of scope run: the first use
	Answers   *Answers   `json:"answers,omitempty"` // to the request's questions
}

// Err returns nil for an approval that is pending or approved, and otherwise
// the reason that the agent is told.
func (a Approval) Err() error {
	switch a.State {
	case ApprovalPending, ApprovalApproved:
		return nil
	case ApprovalDenied:
		e := sys.Errorf(sys.CodeDenied, "The person denied this.")
		if a.Comment != "" {
			e = sys.Errorf(sys.CodeDenied, "The person denied this and said: %q.", a.Comment)
		}
		return e.WithHint("Do not try the same again; find another way or ask what they want instead.")
	case ApprovalExpired:
		return sys.Errorf(sys.CodeDenied, "This was not approved: %s.", commentOf(a)).
			WithHint("Go on without it, and say so.")
	case ApprovalCanceled:
		return sys.Errorf(sys.CodeDenied, "This is no longer approved: %s.", commentOf(a)).
			WithHint("Ask again if it is still needed.")
	case ApprovalUsed:
		return sys.Errorf(sys.CodeDenied, "This approval was given once and has been used.").
			WithHint("Ask again if it is still needed.")
	}
	return sys.Errorf(sys.CodeInternal, "An approval is in the unknown state %q.", a.State)
}

// Answer is what a person decides about a request.
type Answer struct {
	Approve bool
	Scope   string // [ScopeOnce] if empty
	Comment string // goes to the agent
	Hash    string // of the request that was shown; required to approve
	Answers *Answers
}

// ApprovalConfig says how [Approvals] works.
type ApprovalConfig struct {
	Clock sys.Clock
	TTL   time.Duration // how long a question waits, and how long an approval may go unused; 24 h if zero

	// Notify is told each new state of an approval, after it is durable: the
	// latest wins. It must not block. It may be nil.
	Notify func(Approval)

	// OnExpire runs in the transaction that ends an approval because of time,
	// so that its audit record is one with it. Every other change has a caller
	// who can record it. It may be nil.
	OnExpire func(*store.Tx, Approval) error
}

// maxComment is the longest comment in bytes: it becomes part of a prompt.
const maxComment = 4 << 10

// maxRequest is the largest request in bytes of JSON.
const maxRequest = 2 << 20

// Approvals owns the questions that wait for a person and the answers. All of
// it is in the store; those who wait in [Approvals.Await] find their question
// again after a restart. It is safe for concurrent use.
type Approvals struct {
	st  *store.Store
	cfg ApprovalConfig

	mu      sync.Mutex
	waiters map[string]map[chan struct{}]struct{} // by approval; a channel is closed when its state changes
	added   chan struct{}                         // wakes Run: there is a new deadline
}

// NewApprovals returns the approvals kept in st. It reads nothing and starts
// nothing: call [Approvals.Expire] once at start and [Approvals.Run] after.
func NewApprovals(st *store.Store, cfg ApprovalConfig) *Approvals {
	if cfg.TTL <= 0 {
		cfg.TTL = 24 * time.Hour
	}
	return &Approvals{
		st: st, cfg: cfg,
		waiters: map[string]map[chan struct{}]struct{}{},
		added:   make(chan struct{}, 1),
	}
}

// Create stores a question inside the caller's transaction. It refuses a call
// of tier 3, which nobody can approve, and one without a hash.
func (a *Approvals) Create(tx *store.Tx, r Request) (Approval, error) {
	switch {
	case r.Call == "" || r.Hash == "":
		return Approval{}, sys.Errorf(sys.CodeInternal, "A request needs the name and the hash of its call.")
	case r.Tier >= TierRefuse:
		return Approval{}, sys.Errorf(sys.CodeRefused, "This is never allowed, and nobody can approve it.")
	}
	text, err := json.Marshal(storedRequest{r, r.Basis})
	if err != nil {
		return Approval{}, fmt.Errorf("store request: %w", err)
	}
	if len(text) > maxRequest {
		return Approval{}, sys.Errorf(sys.CodeTooLarge, "The request is larger than %d MB; a person cannot judge it.", maxRequest>>20).
			WithHint("Split it into smaller steps.")
	}
	now := a.now()
	id := r.ID
	if id == "" {
		id = sys.NewID()
	}
	ap := Approval{
		ID: id, Request: r, State: ApprovalPending, Scope: ScopeOnce,
		CreatedAt: now, ExpiresAt: now.Add(a.cfg.TTL),
	}
	_, err = tx.Exec(`INSERT INTO approvals
		(id, run_id, step_id, session_id, call, hash, request_json, state, scope, decided_by, comment, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', ?, ?)`,
		ap.ID, r.RunID, r.StepID, r.SessionID, r.Call, r.Hash, string(text), ap.State, ap.Scope,
		ap.CreatedAt.UnixMilli(), ap.ExpiresAt.UnixMilli())
	if err != nil {
		return Approval{}, fmt.Errorf("store request: %w", err)
	}
	a.tell(tx, ap)
	return ap, nil
}

// now is the clock to the millisecond, as the store keeps it.
func (a *Approvals) now() time.Time { return a.cfg.Clock.Now().Truncate(time.Millisecond) }

// tell announces a change once tx is durable: to those who wait for it, to the
// expiry loop and to the listener.
func (a *Approvals) tell(tx *store.Tx, ap Approval) {
	tx.OnCommit(func() {
		a.mu.Lock()
		waiting := a.waiters[ap.ID]
		delete(a.waiters, ap.ID)
		a.mu.Unlock()
		for c := range waiting {
			close(c)
		}
		select {
		case a.added <- struct{}{}:
		default:
		}
		if a.cfg.Notify != nil {
			a.cfg.Notify(ap)
		}
	})
}

const approvalColumns = `id, request_json, state, scope, decided_by, comment, created_at, expires_at,
	COALESCE(decided_at, 0), COALESCE(used_at, 0), COALESCE(answers_json, '')`

// scan reads a row. A question whose time is over reads as expired, whether
// that has been written or not.
func (a *Approvals) scan(row interface{ Scan(...any) error }) (Approval, error) {
	var (
		ap                              Approval
		request, answers                string
		created, expires, decided, used int64
	)
	err := row.Scan(&ap.ID, &request, &ap.State, &ap.Scope, &ap.DecidedBy, &ap.Comment, &created, &expires, &decided, &used, &answers)
	if err != nil {
		return Approval{}, err
	}
	stored := storedRequest{}
	if err := json.Unmarshal([]byte(request), &stored); err != nil {
		return Approval{}, fmt.Errorf("read approval %s: %w", ap.ID, err)
	}
	ap.Request = stored.Request
	ap.Request.Basis = stored.Basis
	if answers != "" {
		if err := json.Unmarshal([]byte(answers), &ap.Answers); err != nil {
			return Approval{}, fmt.Errorf("read the answers of approval %s: %w", ap.ID, err)
		}
	}
	ap.CreatedAt, ap.ExpiresAt = time.UnixMilli(created).UTC(), time.UnixMilli(expires).UTC()
	if decided != 0 {
		at := time.UnixMilli(decided).UTC()
		ap.DecidedAt = &at
	}
	if used != 0 {
		at := time.UnixMilli(used).UTC()
		ap.UsedAt = &at
	}
	return a.timedOut(ap), nil
}

// commentOf is why an approval ended without an answer. The reasons are
// sentences of this package, so that the Korean need not be stored.
func commentOf(a Approval) sys.Words {
	for _, format := range []string{"nobody answered within %s", "it was approved, but not used within %s"} {
		if ttl, ok := strings.CutPrefix(a.Comment, strings.TrimSuffix(format, "%s")); ok {
			return sys.Say(format, ttl)
		}
	}
	for _, w := range formEnds() {
		if a.Comment == w.EN {
			return w
		}
	}
	return sys.Words{EN: a.Comment, KO: sys.Korean(a.Comment)}
}

// ttlText is the TTL as a person reads it.
func (a *Approvals) ttlText() string {
	if h := a.cfg.TTL.Hours(); h >= 1 {
		return fmt.Sprintf("%g h", h)
	}
	return a.cfg.TTL.String()
}

// timedOut returns ap as it is now: expired if its time is over.
func (a *Approvals) timedOut(ap Approval) Approval {
	open := ap.State == ApprovalPending || ap.State == ApprovalApproved
	if !open || a.now().Before(ap.ExpiresAt) {
		return ap
	}
	if ap.State == ApprovalPending {
		ap.Comment = "nobody answered within " + a.ttlText()
	} else {
		ap.Comment = "it was approved, but not used within " + a.ttlText()
	}
	ap.State = ApprovalExpired
	return ap
}

// trimComment makes a person's comment fit.
func trimComment(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if len(s) > maxComment {
		s = strings.ToValidUTF8(s[:maxComment], "") + "…"
	}
	return s
}

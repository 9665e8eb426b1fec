package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Exchange holds the cards of the live agents and carries their messages. Its
// methods may be called from any goroutine.
type Exchange struct {
	store *store.Store
	tell  func(Message) // called after each change of a message is durable; it must be quick

	mu    sync.Mutex
	cards map[string]Card
	bells map[string]chan struct{} // by message: closed when it is answered
	waits map[string][]string      // who waits for whom
}

// New returns an exchange without cards. tell is called after each change of a
// message.
func New(s *store.Store, tell func(Message)) *Exchange {
	return &Exchange{store: s, tell: tell, cards: map[string]Card{}, bells: map[string]chan struct{}{}, waits: map[string][]string{}}
}

// Register enters the card of a run, or a newer one.
func (x *Exchange) Register(c Card) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cards[c.ID] = c
}

// Remove takes the card of a run away.
func (x *Exchange) Remove(run string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.cards, run)
}

// Card returns the card of a run.
func (x *Exchange) Card(run string) (Card, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c, ok := x.cards[run]
	return c, ok
}

// Cards returns all cards, the oldest run first.
func (x *Exchange) Cards() []Card {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := []Card{}
	for _, c := range x.cards {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Card) int { return int(a.PID - b.PID) })
	return all
}

// Wait notes that the run from waits for the run to, until done is called. It
// fails with conflict when to waits for from, itself or over others: neither
// would ever go on.
func (x *Exchange) Wait(from, to string) (done func(), err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if chain := x.chain(to, from, nil); chain != nil {
		name := x.cards[to].Name
		return nil, sys.Errorf(sys.CodeConflict, "%s waits for you, so neither would ever go on: two agents do not wait for each other. Nothing was done.", cmp.Or(name, "That agent")).
			WithHint("Answer what it asked you, or say what you need in your own result.")
	}
	x.waits[from] = append(x.waits[from], to)
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if i := slices.Index(x.waits[from], to); i >= 0 {
			x.waits[from] = slices.Delete(x.waits[from], i, i+1)
		}
		if len(x.waits[from]) == 0 {
			delete(x.waits, from)
		}
	}, nil
}

// chain returns the runs over which from waits for to, nil if it does not.
func (x *Exchange) chain(from, to string, over []string) []string {
	if slices.Contains(over, from) {
		return nil
	}
	over = append(over, from)
	if from == to {
		return over
	}
	for _, next := range x.waits[from] {
		if found := x.chain(next, to, over); found != nil {
			return found
		}
	}
	return nil
}

// WaitsFor reports whether the run from waits for the run to, itself or over
// others.
func (x *Exchange) WaitsFor(from, to string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return from != to && x.chain(from, to, nil) != nil
}

// bell returns what is closed when the message is answered.
func (x *Exchange) bell(id string) <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.bells[id] == nil {
		x.bells[id] = make(chan struct{})
	}
	return x.bells[id]
}

func (x *Exchange) ring(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if bell := x.bells[id]; bell != nil {
		close(bell)
		delete(x.bells, id)
	}
}

// Envelope is a message on its way into a queue.
type Envelope struct {
	From, To         string // runs; "" is the person
	FromName, ToName string
	SessionID        string
	Payload          Payload
	Asks             bool   // an answer is expected
	Answers          string // the id of the message that it answers
	MadeBy           string // the step that sends it

	made string
}

// Check says why a payload cannot be sent.
func Check(p Payload) error { return p.check() }

// Send puts a message into the queue of its receiver. It fails with conflict
// when the receiver has ended, and with busy when its queue is full.
func (x *Exchange) Send(tx *store.Tx, e Envelope) (Message, error) {
	return x.send(tx, e, store.MailWaiting)
}

// Sent records a message that its receiver has read already: a task that an
// agent was started with.
func (x *Exchange) Sent(tx *store.Tx, e Envelope) (Message, error) {
	return x.send(tx, e, store.MailDelivered)
}

func (x *Exchange) send(tx *store.Tx, e Envelope, state string) (Message, error) {
	if e.To == "" {
		state = store.MailDelivered // the person sees it where they look
	}
	if e.To != "" && e.made == "" {
		r, err := x.store.RunIn(tx, e.To)
		if err != nil {
			return Message{}, err
		}
		if r.State.Ended() {
			return Message{}, sys.Errorf(sys.CodeConflict, "The agent %s has ended (%s), so it would not read the message. Nothing was sent.", r.Name, r.State).
				WithHint("Start another agent, or do it yourself.")
		}
		n, err := x.store.Waits(tx, e.To)
		if err != nil {
			return Message{}, err
		}
		if n >= MaxWaiting {
			return Message{}, sys.Errorf(sys.CodeBusy, "%d messages wait for %s already, the most there may be. Nothing was sent.", n, r.Name).
				WithHint("Let it read them first.")
		}
	}
	payload, err := json.Marshal(e.Payload)
	if err != nil {
		return Message{}, err
	}
	m := store.Mail{
		SessionID: e.SessionID, From: e.From, To: e.To, FromName: e.FromName, ToName: e.ToName, Kind: string(e.Payload.Kind()), Payload: payload,
		Made: e.made, Answers: e.Answers, Asks: e.Asks, MadeBy: e.MadeBy, State: state,
	}
	if err := x.store.AddMail(tx, &m); err != nil {
		return Message{}, fmt.Errorf("queue a message: %w", err)
	}
	x.changed(tx, m)
	return messageOf(m), nil
}

// changed tells of a message after the commit, and wakes who waits for it.
func (x *Exchange) changed(tx *store.Tx, m store.Mail) {
	tx.OnCommit(func() {
		if m.Answers != "" {
			x.ring(m.Answers)
		}
		x.tell(messageOf(m))
	})
}

func (x *Exchange) set(tx *store.Tx, m store.Mail, state string) error {
	m.State = state
	if err := x.store.SetMail(tx, &m); err != nil {
		return err
	}
	x.changed(tx, m)
	return nil
}

// Reply answers a message that run was asked, and has read.
func (x *Exchange) Reply(tx *store.Tx, run, ref string, e Envelope) (Message, error) {
	asked, err := x.find(tx, ref)
	switch {
	case err != nil:
		return Message{}, err
	case asked.To != run:
		return Message{}, errNoMessage(ref)
	case asked.State == store.MailAnswered:
		return Message{}, sys.Errorf(sys.CodeConflict, "Message %d is answered already. Nothing was sent.", asked.N).WithHint("Say more with action send.")
	case asked.State != store.MailDelivered:
		return Message{}, sys.Errorf(sys.CodeConflict, "Message %d is not there to be answered (%s). Nothing was sent.", asked.N, asked.State)
	}
	e.To, e.ToName, e.Answers, e.SessionID = asked.From, asked.FromName, asked.ID, asked.SessionID
	m, err := x.Send(tx, e)
	if err != nil {
		return m, err
	}
	return m, x.set(tx, asked, store.MailAnswered)
}

func (x *Exchange) find(tx *store.Tx, ref string) (store.Mail, error) {
	ref = strings.TrimPrefix(strings.TrimSpace(ref), "#")
	if ref == "" {
		return store.Mail{}, errNoMessage(ref)
	}
	list, err := x.store.MailIn(tx, store.MailQuery{Ref: ref, Limit: 1})
	if err == nil && len(list) == 0 {
		err = errNoMessage(ref)
	}
	if err != nil {
		return store.Mail{}, err
	}
	return list[0], nil
}

func errNoMessage(ref string) error {
	return sys.Errorf(sys.CodeNotFound, "You got no message %q. Nothing was sent.", ref).WithHint("The id stands with each message that you read.")
}

// Unread reports whether messages wait for a run.
func (x *Exchange) Unread(tx *store.Tx, run string) (bool, error) {
	n, err := x.store.Waits(tx, run)
	return n > 0, err
}

// Waiting returns the messages that wait for a run, the oldest first, inside the
// transaction that makes them steps of it.
func (x *Exchange) Waiting(tx *store.Tx, run string) ([]Message, error) {
	return messages(x.store.MailIn(tx, store.MailQuery{To: run}))
}

// Read notes that a message has become a step of its receiver.
func (x *Exchange) Read(tx *store.Tx, id, step string) error {
	m, err := x.find(tx, id)
	if err != nil || m.State != store.MailWaiting {
		return err
	}
	m.StepID = step
	return x.set(tx, m, store.MailDelivered)
}

// ReadEnd notes that a run has read, in another way, what another one said at
// its end.
func (x *Exchange) ReadEnd(tx *store.Tx, from, to, step string) error {
	list, err := x.Waiting(tx, to)
	for _, m := range list {
		if err == nil && m.From == from && (m.Made == store.MailOfEnd || m.Made == store.MailOfFailure) {
			err = x.Read(tx, m.ID, step)
		}
	}
	return err
}

// List returns messages, the newest first.
func (x *Exchange) List(ctx context.Context, q store.MailQuery) ([]Message, error) {
	return messages(x.store.Mail(ctx, q))
}

func messages(list []store.Mail, err error) ([]Message, error) {
	out := []Message{}
	for _, m := range list {
		out = append(out, messageOf(m))
	}
	return out, err
}

// Answer waits for what answers the message id, until ctx ends. What it
// returns is still in the asker's queue: see [Exchange.Read].
func (x *Exchange) Answer(ctx context.Context, id string) (Message, error) {
	defer x.ring(id) // nobody keeps its bell; others that wait look again
	for {
		bell := x.bell(id) // before the look: an answer that comes meanwhile rings it
		list, err := x.List(ctx, store.MailQuery{Answers: id, Limit: 1})
		if err != nil {
			return Message{}, err
		}
		if len(list) > 0 {
			return list[0], nil
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return Message{}, context.Cause(ctx)
		}
	}
}

// Settle does what is due when a run ends, in the transaction of its end or
// after it: a message that it has not read comes back to its sender, and of what
// it has read and not answered its last words are the answer, or the sender
// learns that there is none.
func (x *Exchange) Settle(tx *store.Tx, r store.Run) error {
	list, err := x.store.Unsettled(tx, r.ID)
	if err != nil || len(list) == 0 {
		return err
	}
	said, err := x.store.LastAnswer(tx, r.ID)
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := x.settle(tx, r, m, said); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exchange) settle(tx *store.Tx, r store.Run, m store.Mail, said string) error {
	back := Envelope{From: r.ID, FromName: r.Name, To: m.From, ToName: m.FromName, SessionID: m.SessionID, Answers: m.ID}
	switch {
	case m.State == store.MailWaiting:
		m.Problem = sys.Errorf(sys.CodeConflict, "The agent %s ended (%s) before it read this.", r.Name, r.State)
		m.State, back.made = store.MailReturned, store.MailOfReturned
	case r.State == store.RunDone && strings.TrimSpace(said) != "":
		m.State, back.made, back.Payload = store.MailAnswered, store.MailOfEnd, ResultSharing{TaskID: m.ID, Result: sys.Shorten(said, MaxText)}
	default:
		m.Problem = sys.Errorf(sys.CodeConflict, "The agent %s ended (%s) without an answer. %s", r.Name, r.State, why(r))
		m.State, back.made = store.MailReturned, store.MailOfFailure
	}
	if m.Problem != nil {
		back.Payload = StatusUpdate{TaskID: m.ID, Message: strings.TrimSpace(m.Problem.Message) + " It was: " + sys.Shorten(messageOf(m).Text, 500)}
	}
	if err := x.set(tx, m, m.State); err != nil {
		return err
	}
	if m.Made != "" { // the kernel wrote it: there is nobody to tell
		return nil
	}
	if m.From != "" {
		sender, err := x.store.RunIn(tx, m.From)
		if sys.CodeOf(err) == sys.CodeNotFound || err == nil && sender.State.Ended() {
			return nil
		}
		if err != nil {
			return err
		}
	} else if back.made != store.MailOfEnd {
		return nil // the person sees its state
	}
	_, err := x.send(tx, back, store.MailWaiting)
	return err
}

func why(r store.Run) any {
	if r.Error != nil {
		return r.Error
	}
	return r.EndReason
}

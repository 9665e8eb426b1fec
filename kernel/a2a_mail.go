package kernel

import (
	"oxios/kernel/a2a"
	"oxios/kernel/agent"
	"oxios/kernel/security"
	"oxios/kernel/store"
)

// mailbox gives a run the messages that wait for it.
type mailbox struct {
	k      *Kernel
	x      *a2a.Exchange
	run    string
	reader a2a.Reader
}

// Take returns what waits. Each message becomes a step and leaves the queue in
// one transaction.
func (b mailbox) Take(tx *store.Tx) ([]agent.Mail, error) {
	list, err := b.x.Waiting(tx, b.run)
	var out []agent.Mail
	for _, m := range list {
		// What its writer has read, the reader has read now.
		labels, err := b.k.store.LabelsOf(tx, m.From)
		if err != nil {
			return nil, err
		}
		labels = labels.Join(b.k.runs.of(m.From).labels)
		if labels.Untrusted() {
			m.Text = security.PlainText(m.Text)
		}
		b.k.runs.label(b.run, labels)
		out = append(out, agent.Mail{
			Labels: labels,
			Step: agent.MessageStep{Text: m.Text, Read: m.ForModel(b.reader), Agent: &agent.Sender{
				ID: m.ID, N: m.N, From: m.From, Name: m.FromName, Kind: string(m.Kind), Answers: m.Answers, Made: m.Made,
			}},
			Took: func(tx *store.Tx, step string) error { return b.x.Read(tx, m.ID, step) },
		})
	}
	return out, err
}

// Unread reports whether something waits.
func (b mailbox) Unread(tx *store.Tx) (bool, error) { return b.x.Unread(tx, b.run) }

package security

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// AuditReport is what a verification found.
type AuditReport struct {
	Entries  int64  `json:"entries"`             // how many were looked at
	OK       bool   `json:"ok"`                  // nothing wrong was found
	FirstBad int64  `json:"first_bad,omitempty"` // the sequence number of the first entry that is wrong or missing
	Problem  string `json:"problem,omitempty"`   // one sentence about it
	Head     string `json:"head"`                // the hash of the last entry that is good; "genesis" if there is none
	Archived int    `json:"archived,omitempty"`  // chains that came with backups or were pruned, and were compared too: [Audit.VerifyAll]

	ProblemKO string `json:"problem_ko,omitempty"`
	Last      int64  `json:"last"`                // the number of the last entry that is good
	Pruned    int64  `json:"pruned,omitempty"`    // up to this entry a signed root stands for what was taken out
	Signed    int64  `json:"signed,omitempty"`    // the last entry that a checkpoint vouches for
	Witnessed int64  `json:"witnessed,omitempty"` // the last entry that the witness knows
	Key       string `json:"key,omitempty"`       // the public key that signed the newest of them

	Found    []AuditSpan `json:"found,omitempty"`    // entries that were not signed by whom wrote them: a later start found them
	Unsigned *AuditSpan  `json:"unsigned,omitempty"` // entries behind the newest checkpoint
	Renewals []Renewal   `json:"renewals,omitempty"` // where the evidence was begun anew

	Lacks string `json:"lacks,omitempty"` // what of the evidence is gone: key, checkpoints, memory, or the file of a witness

	Verdict   string `json:"verdict,omitempty"` // all of this in a few words, the same in every face
	VerdictKO string `json:"verdict_ko,omitempty"`
}

// FoundEntries is how many entries were found, and not written by who signed them.
func (r AuditReport) FoundEntries() (n int64) {
	for _, s := range r.Found {
		n += s.To - s.From + 1
	}
	return n
}

// Judged is r with its verdict.
func (r AuditReport) Judged() AuditReport {
	w := sys.Say("Audit intact")
	switch {
	case !r.OK && r.FirstBad != 0:
		w = sys.Say("Audit damaged")
	case !r.OK:
		w = sys.Say("Audit evidence missing or altered")
	case len(r.Found) > 0:
		w = sys.Say("Audit: %d records were found unsigned", r.FoundEntries())
	case len(r.Renewals) > 0:
		w = sys.Say("Audit intact since its evidence began anew")
	}
	r.Verdict, r.VerdictKO = w.EN, w.KO
	return r
}

// future is how far ahead of this machine's clock an entry may be dated.
const future = 5 * time.Minute

// chain checks entries one after the other.
type chain struct {
	now     time.Time
	entries int64
	seq     int64
	hash    string
	at      time.Time
	ahead   int64    // the first entry dated in the future since the clock was last set back; 0 if none
	back    bool     // the clock was set back somewhere
	from    position // where it began, when that is not the start
	buf     []byte
}

// position is the last entry of a part of the chain.
type position struct {
	seq  int64
	hash string
	at   int64 // unix nanoseconds
}

func newChain(now time.Time) *chain { return &chain{now: now, hash: Genesis} }

// after makes c the chain that is left behind a signed root; the zero value is
// the beginning.
func (c *chain) after(root Checkpoint) *chain {
	c.seq, c.hash = root.Seq, root.hash()
	return c
}

// begin makes c a part of the chain that follows e.
func (c *chain) begin(e Entry) {
	c.seq, c.hash, c.at = e.Seq, e.Hash, e.Timestamp
	c.from = c.link()
}

func (c *chain) link() position { return position{c.seq, c.hash, c.at.UnixNano()} }

// join adds a part that begins where c ends.
func (c *chain) join(part *chain) {
	if part.back || c.ahead == 0 {
		c.ahead = part.ahead
	}
	c.entries += part.entries
	c.seq, c.hash, c.at, c.back = part.seq, part.hash, part.at, c.back || part.back
}

// add checks the next entry and returns the entry that is bad, and why; 0 if
// all is well.
func (c *chain) add(e Entry) (bad int64, problem sys.Words) {
	c.entries++
	var hash string
	hash, c.buf = e.digestIn(c.buf)
	switch {
	case e.Seq > c.seq+1:
		return c.seq + 1, sys.Say("Entry %d is missing: entry %d stands in its place.", c.seq+1, e.Seq)
	case e.Seq <= c.seq:
		return c.seq + 1, sys.Say("Entry %d is not in its place: entry %d stands there.", c.seq+1, e.Seq)
	case hash != e.Hash:
		return e.Seq, sys.Say("Entry %d was altered: its content does not fit its hash.", e.Seq)
	case e.PrevHash != c.hash:
		return e.Seq, sys.Say("Entry %d does not continue entry %d: one of them was replaced.", e.Seq, c.seq)
	case e.Timestamp.Before(c.at) && !saysSetBack(e.Metadata):
		return e.Seq, sys.Say("Entry %d is dated before entry %d, and does not say that the clock was set back.", e.Seq, c.seq)
	}
	if e.Timestamp.Before(c.at) {
		c.ahead, c.back = 0, true // the clock was wrong before, and that is known
	}
	if c.ahead == 0 && e.Timestamp.After(c.now.Add(future)) {
		c.ahead = e.Seq
	}
	c.seq, c.hash, c.at = e.Seq, e.Hash, e.Timestamp
	return 0, sys.Words{}
}

func saysSetBack(metadata json.RawMessage) bool {
	var m struct {
		Back int64 `json:"clock_set_back_ms"`
	}
	return json.Unmarshal(metadata, &m) == nil && m.Back > 0
}

// report closes the chain.
func (c *chain) report(bad int64, problem sys.Words) AuditReport {
	if bad == 0 && c.ahead != 0 {
		bad = c.ahead
		problem = sys.Say("Entry %d is dated in the future: it was altered, or the clock of this machine has been set back since.", bad)
	}
	return AuditReport{Entries: c.entries, OK: bad == 0, FirstBad: bad, Problem: problem.EN, ProblemKO: problem.KO, Head: c.hash, Last: c.seq}
}

// verifyPage is how many entries one read transaction covers: a long one would
// keep the log of the database from shrinking.
const verifyPage = 4096

// verifyReaders bounds how many pages are checked side by side. The store reads
// four at a time; the window needs one of them.
const verifyReaders = 3

// Verify checks the whole chain in one pass: sequence, hashes, links, order of
// time, and that nothing which this process wrote is cut off at the end. What
// was cut off by somebody else before this process began cannot be seen
// without a copy kept elsewhere. An error means that the chain could not be
// read, not that it is bad.
func (a *Audit) Verify(ctx context.Context) (AuditReport, error) {
	r, _, err := a.VerifyAfter(ctx, Verified{})
	return r, err
}

// Verified is how far a chain was found good. The zero value is its beginning.
type Verified struct{ at position }

// VerifyAfter is [Audit.Verify] of what follows an entry that was good, which
// must still be there as it was, and returns how far the chain is good now.
func (a *Audit) VerifyAfter(ctx context.Context, from Verified) (AuditReport, Verified, error) {
	a.pruning.RLock()
	defer a.pruning.RUnlock()
	root, err := a.root(ctx)
	if err != nil {
		return AuditReport{}, from, fmt.Errorf("verify the audit chain: %w", err)
	}
	if root.Kind != "" && root.Kind != CheckpointPruned {
		return AuditReport{Head: Genesis}.worse(1, sys.Say("The signed root of what was pruned was altered.")), from, nil
	}
	if from.at.seq <= root.Seq {
		from = Verified{} // it was pruned since
	}
	a.mu.Lock()
	written := a.committed
	a.mu.Unlock()
	now := a.clock.Now()
	if written.seq != 0 {
		// The clock may have been set back since; time has passed all the same.
		if at := written.timestamp.Add(time.Since(written.written)); at.After(now) {
			now = at
		}
	}
	c := newChain(now).after(root)
	var bad int64
	var problem sys.Words
	if from == (Verified{}) {
		bad, problem, err = a.verifyPages(ctx, c, verifyPage)
	} else {
		bad, problem, err = a.verifyTail(ctx, c, from.at)
	}
	if err != nil {
		return AuditReport{}, from, fmt.Errorf("verify the audit chain: %w", err)
	}
	if bad == 0 && c.seq < written.seq {
		bad, problem = c.seq+1, sys.Say("Entry %d is missing: the end of the chain was cut off.", c.seq+1)
	}
	r := c.report(bad, problem)
	r.Pruned = root.Seq
	if r.OK && root.Seq != 0 {
		keys, err := a.trusted(ctx)
		if err != nil {
			return AuditReport{}, from, fmt.Errorf("verify the audit chain: %w", err)
		}
		if a.signs() && !keys[root.Key] {
			return r.worse(root.Seq, sys.Say("The root of what was pruned, up to entry %d, was signed with a key that this chain does not know.", root.Seq)), from, nil
		}
	}
	if !r.OK || c.seq == root.Seq {
		return r, from, nil
	}
	return r, Verified{c.link()}, nil
}

// verifyTail adds to c what follows an entry, page by page: it is little.
func (a *Audit) verifyTail(ctx context.Context, c *chain, from position) (bad int64, problem sys.Words, err error) {
	c.seq, c.hash, c.at = from.seq, from.hash, time.Unix(0, from.at).UTC()
	// The first page takes the entry that it begins from as it is.
	first, err := a.List(ctx, AuditQuery{From: from.seq, Limit: 1})
	if err != nil {
		return 0, sys.Words{}, err
	}
	if len(first) == 0 || first[0].Seq != from.seq || first[0].digest() != from.hash {
		return c.seq, sys.Say("Entry %d was altered or taken away since it was verified.", c.seq), nil
	}
	for {
		p := a.verifyPage(ctx, position{seq: math.MinInt64}, c.seq, verifyPage, c.now)
		switch {
		case p.err != nil:
			return 0, sys.Words{}, p.err
		case p.chain.from != c.link():
			return c.seq, sys.Say("Entry %d was altered or taken away since it was verified.", c.seq), nil
		}
		c.join(p.chain)
		if p.bad != 0 || p.rows < verifyPage {
			return p.bad, p.problem, nil
		}
	}
}

// page is what was found in the entries of one page.
type page struct {
	chain   *chain
	rows    int64
	bad     int64
	problem sys.Words
	err     error
}

// verifyPages adds the whole chain to c. Pages of size entries are checked side by side, each
// from the entry before it as the store holds it, and joined in their order: a
// page counts when the one before it was good to its last entry, and that entry
// is the one that this page began from.
func (a *Audit) verifyPages(ctx context.Context, c *chain, size int64) (bad int64, problem sys.Words, err error) {
	ctx, cancel := context.WithCancel(ctx)
	start := position{seq: c.seq, hash: c.hash}
	workers := min(runtime.GOMAXPROCS(0), verifyReaders)
	found := make([]chan page, workers)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for w := range workers {
		found[w] = make(chan page)
		all.Go(func() {
			for n := int64(w); ; n += int64(workers) {
				select {
				case found[w] <- a.verifyPage(ctx, start, start.seq+n*size, size, c.now):
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for n := int64(0); ; n++ {
		var p page
		select {
		case p = <-found[n%int64(workers)]:
		case <-ctx.Done(): // nobody reads on then
			return 0, sys.Words{}, context.Cause(ctx)
		}
		if p.err == nil && n > 0 && p.chain.from != c.link() {
			p = a.verifyPage(ctx, start, start.seq+n*size, size, c.now) // it was read before the page in front of it was complete
		}
		switch {
		case p.err != nil:
			return 0, sys.Words{}, p.err
		case n > 0 && p.chain.from != c.link():
			return c.seq, sys.Say("Entry %d was altered while the chain was read.", c.seq), nil
		}
		c.join(p.chain)
		if p.bad != 0 || p.rows < size {
			return p.bad, p.problem, nil
		}
	}
}

// verifyPage checks the size entries that follow the one with the number after.
// A page that begins in the middle of the chain takes that entry as it is, and
// says so in its chain's from.
// start is where the chain begins.
func (a *Audit) verifyPage(ctx context.Context, start position, after, size int64, now time.Time) page {
	p := page{chain: newChain(now)}
	first, limit, begun := after, size+1, false
	if after == start.seq {
		p.chain.seq, p.chain.hash = start.seq, start.hash
		first, limit, begun = math.MinInt64, size, true // also what has no place in a chain
	}
	p.err = a.st.Read(ctx, func(tx *store.Tx) error {
		return tx.Each(`SELECT `+auditColumns+` FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?`, func(row []driver.Value) error {
			e := entryOf(row)
			if !begun {
				begun = true
				if e.Seq != after {
					return io.EOF // the page in front of this one says what is missing
				}
				p.chain.begin(e)
				return nil
			}
			p.rows++
			if p.bad, p.problem = p.chain.add(e); p.bad != 0 {
				return io.EOF
			}
			return nil
		}, first, limit)
	})
	return p
}

// entryOf is scanEntry for what [store.Tx.Each] gives.
func entryOf(row []driver.Value) Entry {
	text := func(i int) string {
		switch v := row[i].(type) {
		case string:
			return v
		case []byte: // somebody's own: the chain holds text
			return string(v)
		default:
			return fmt.Sprint(v)
		}
	}
	seq, _ := row[0].(int64) // the table is strict
	at, _ := row[1].(int64)
	return Entry{
		Seq: seq, Timestamp: time.Unix(0, at).UTC(), Actor: text(2), Action: Action(text(3)), Resource: text(4),
		PrevHash: text(5), Hash: text(6), Metadata: json.RawMessage(text(7)),
	}
}

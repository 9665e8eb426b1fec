package security

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"oxios/kernel/sys"
)

// ExportLine returns e as one line of JSON with its newline. Lines of a whole
// chain, in order, are what [VerifyExport] reads.
func ExportLine(e Entry) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(e) == nil {
		return b.Bytes()
	}
	// Somebody broke the metadata in the store. The line carries it as text, and does not verify.
	b.Reset()
	e.Metadata, _ = json.Marshal(string(e.Metadata))
	_ = enc.Encode(e)
	return b.Bytes()
}

// maxExportLine is more than an entry with every field at its limit needs,
// each byte written as an escape of six.
const maxExportLine = 1 << 20

// exportPage is how many entries one part of an export has at most.
const exportPage = 1000

// exportBytes is how large a part may grow before it ends: a face sends it as
// one message.
const exportBytes = 1 << 20

// ExportPart is a piece of an export: whole lines.
type ExportPart struct {
	Text    string `json:"text"`
	Entries int    `json:"entries"` // in this part
	Next    int64  `json:"next"`    // where the next part begins
	Done    bool   `json:"done"`    // there is no more
}

// Export returns the part of the chain that follows entry after; 0 begins. A
// line is an entry or a checkpoint, which stands behind the entry that it
// signs; a pruned chain begins with the root that stands for what was taken out.
// The last line says where the export ends, so that one whose end was cut off is
// told from a whole one.
func (a *Audit) Export(ctx context.Context, after int64) (ExportPart, error) {
	a.pruning.RLock()
	defer a.pruning.RUnlock()
	var text bytes.Buffer
	root, err := a.root(ctx)
	if err != nil {
		return ExportPart{}, err
	}
	if after == 0 && root.Kind == CheckpointPruned {
		text.Write(checkpointLine(root))
	}
	if after != 0 && after < root.Seq {
		return ExportPart{}, sys.Errorf(sys.CodeConflict, "The record was pruned while it was exported.").WithHint("Export it once more.")
	}
	from := after + 1
	if after == 0 {
		from = 0 // also what has no place in a chain
	}
	page, err := a.List(ctx, AuditQuery{From: from, Limit: exportPage})
	if err != nil {
		return ExportPart{}, err
	}
	a.signing.Lock()
	file := a.keeping.File
	a.signing.Unlock()
	signed := map[int64]Checkpoint{} // the newest of each entry
	if file != "" && len(page) > 0 {
		list, _, err := readCheckpoints(file, true)
		if err != nil {
			return ExportPart{}, err
		}
		for _, c := range list {
			if c.Seq >= page[0].Seq && c.Seq <= page[len(page)-1].Seq {
				signed[c.Seq] = c
			}
		}
	}
	part := ExportPart{Next: after, Done: len(page) < exportPage}
	for _, e := range page {
		if text.Len() > exportBytes {
			part.Done = false
			break
		}
		part.Entries++
		text.Write(ExportLine(e))
		if c, ok := signed[e.Seq]; ok {
			text.Write(checkpointLine(c))
		}
		part.Next = e.Seq
	}
	part.Done = part.Done || part.Next <= after && after != 0
	if part.Done {
		end, err := a.ending(ctx, root, part.Next)
		if err != nil {
			return ExportPart{}, err
		}
		text.Write(checkpointLine(end))
	}
	part.Text = text.String()
	return part, nil
}

// ending is the last line of an export that ends with entry seq. Where nothing is
// signed it has no signature, as the rest.
func (a *Audit) ending(ctx context.Context, root Checkpoint, seq int64) (Checkpoint, error) {
	end := endOf(root, seq, root.hash())
	if seq != root.Seq {
		page, err := a.List(ctx, AuditQuery{From: seq, Limit: 1})
		if err != nil {
			return end, err
		}
		if len(page) > 0 {
			end.Hash = page[0].Hash
		}
	}
	a.signing.Lock()
	defer a.signing.Unlock()
	if a.keeping.Key == nil {
		return end, nil
	}
	end.Time = a.clock.Now()
	return a.keeping.Key.sign(end), nil
}

func endOf(root Checkpoint, seq int64, hash string) Checkpoint {
	return Checkpoint{Kind: CheckpointEnd, Seq: seq, Hash: hash, RootSeq: root.Seq, RootHash: root.hash()}
}

// ExportTo writes all parts of an export.
func (a *Audit) ExportTo(ctx context.Context, w io.Writer) error {
	for after := int64(0); ; {
		part, err := a.Export(ctx, after)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, part.Text); err != nil {
			return err
		}
		if after = part.Next; part.Done {
			return nil
		}
	}
}

// ExportProof is what an export can be compared with. The zero value compares
// with nothing: then it shows only that the export fits itself.
type ExportProof struct {
	Key     string       // the public key that must have signed, in hex
	Witness []Checkpoint // what was kept elsewhere: [ReadWitness]
}

// VerifyExport checks an exported chain, on any machine and without a store.
// The lines must be exactly as Oxios wrote them. An error means that r could
// not be read, not that the chain is bad.
func VerifyExport(r io.Reader, proof ExportProof) (AuditReport, error) {
	x := exported{chain: newChain(time.Now()), keys: trust{}, wanted: map[int64][]Checkpoint{}}
	x.witness = proof.Witness
	x.keys.add(proof.Key)
	for _, c := range proof.Witness {
		x.wanted[c.Seq] = append(x.wanted[c.Seq], c)
	}
	in := bufio.NewReaderSize(r, maxExportLine)
	for {
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			return x.end(proof), nil
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return AuditReport{}, fmt.Errorf("read the export: %w", err)
		}
		x.line++
		if err != nil {
			return x.report(x.seq+1, sys.Say("Line %d is cut off or too long.", x.line)), nil
		}
		if bad, problem := x.add(line); bad != 0 {
			return x.report(bad, problem), nil
		}
	}
}

// exported is an export that is read.
type exported struct {
	*chain
	line      int
	keys      trust
	root      Checkpoint
	ended     bool                   // its last line was read
	signed    Checkpoint             // the newest
	wanted    map[int64][]Checkpoint // of the witness, by entry
	witness   []Checkpoint           // the same, in their order
	witnessed int64
	found     []AuditSpan
	unknown   []Checkpoint // the first of each key that the chain has not named so far
}

func (x *exported) add(line []byte) (bad int64, problem sys.Words) {
	altered := sys.Say("Line %d is not as Oxios writes it: it was altered.", x.line)
	if x.ended {
		return x.seq + 1, sys.Say("Line %d stands behind the end of the export: it was added.", x.line)
	}
	if bytes.HasPrefix(line, checkpointStart) {
		c, ok := parseCheckpoint(line)
		if !ok {
			return x.seq + 1, altered
		}
		return x.checkpoint(c)
	}
	var e Entry
	if json.Unmarshal(line, &e) != nil || !bytes.Equal(ExportLine(e), line) {
		// Comparing the bytes finds what a parser forgives: spaces, other
		// escapes, a key in capitals, a field given twice.
		return x.seq + 1, altered
	}
	if bad, problem = x.chain.add(e); bad != 0 {
		return bad, problem
	}
	x.keys.add(announced(e)...)
	for _, c := range x.wanted[e.Seq] {
		if bad, problem = x.compare(c, fromWitness, e.Hash); bad != 0 {
			return bad, problem
		}
	}
	return 0, sys.Words{}
}

// compare is [Checkpoint.against] for an export. Who says nothing of keys gets
// the answer whether one key signed it all.
func (x *exported) compare(c Checkpoint, where from, hash string) (bad int64, problem sys.Words) {
	if len(x.keys) == 0 {
		x.keys.add(c.Key)
	}
	keys := x.keys
	if !keys[c.Key] && c.Genuine() && c.Seq >= x.root.Seq {
		// The entry that named this key may be pruned. One that follows names it
		// too, where another key took its place; [exported.end] looks for that.
		if !slices.ContainsFunc(x.unknown, func(u Checkpoint) bool { return u.Key == c.Key }) {
			x.unknown = append(x.unknown, c)
		}
		keys = trust{c.Key: true}
	}
	bad, problem = c.against(where, keys, x.root, x.seq, hash)
	if bad == 0 && where == fromWitness {
		x.witnessed = max(x.witnessed, c.Seq)
	}
	return bad, problem
}

// checkpoint checks a line that signs the entry before it, or all that is not
// there any more.
func (x *exported) checkpoint(c Checkpoint) (bad int64, problem sys.Words) {
	switch {
	case c.Kind == CheckpointEnd:
		return x.close(c)
	case c.Kind == CheckpointPruned && x.line == 1:
		x.root, x.signed = c, c
		x.after(c)
		for _, w := range append([]Checkpoint{c}, x.wanted[c.Seq]...) {
			where := fromExport
			if w.Signature != c.Signature {
				where = fromWitness
			}
			if bad, problem = x.compare(w, where, c.Hash); bad != 0 {
				return bad, problem
			}
		}
		return unwitnessed(c, x.witness)
	case c.Kind != CheckpointHead || c.Seq != x.seq || c.Seq == x.signed.Seq:
		return x.seq + 1, sys.Say("Line %d is a checkpoint that has no place there.", x.line)
	case c.RootSeq > x.root.Seq:
		return 1, sys.Say("The chain begins after entry %d, but what was signed began after entry %d.", x.root.Seq, c.RootSeq)
	}
	x.signed, x.found = c, append(x.found, c.Found...)
	return x.compare(c, fromExport, x.hash)
}

// close checks the last line of an export. Where anything is signed, it is too:
// who cuts an export off cannot write another one.
func (x *exported) close(c Checkpoint) (bad int64, problem sys.Words) {
	x.ended = true
	if c.Seq != x.seq || c.Hash != x.hash || c.RootSeq != x.root.Seq {
		return x.seq + 1, sys.Say("The export ends with entry %d, but its last line was written behind another one: its end was cut off.", x.seq)
	}
	if x.signed.Key == "" && bytes.Equal(checkpointLine(c), checkpointLine(endOf(x.root, x.seq, x.hash))) { // as in the copy of a backup; that nothing is signed is told
		return 0, sys.Words{}
	}
	if bad, _ = x.compare(c, fromExport, x.hash); bad == 0 || c.Seq == 0 && c.Genuine() {
		return 0, sys.Words{}
	}
	return x.seq + 1, sys.Say("The last line of the export is not signed as the rest of it: its end was cut off or altered.")
}

// end closes the export: is all of it there that the witness knows?
func (x *exported) end(proof ExportProof) AuditReport {
	for _, list := range x.wanted {
		for _, c := range list {
			if c.Seq > x.seq {
				if bad, problem := x.compare(c, fromWitness, ""); bad != 0 {
					return x.report(bad, problem)
				}
			}
		}
	}
	for _, c := range x.unknown {
		if !x.keys[c.Key] {
			return x.report(c.Seq, sys.Say("The checkpoint of entry %d was signed with a key that this chain does not know.", c.Seq))
		}
	}
	if !x.ended {
		return x.report(x.seq+1, sys.Say("The export has no last line: what followed entry %d was cut off, or an older Oxios wrote it.", x.seq))
	}
	// The chain itself may name keys that came before or after; whoever rewrote it can do so too.
	if proof.Key != "" && x.signed.Key != proof.Key {
		return x.report(x.root.Seq+1, sys.Say("Its newest checkpoint was not signed with that key, so nothing vouches for it."))
	}
	return x.report(0, sys.Words{})
}

func (x *exported) report(bad int64, problem sys.Words) AuditReport {
	r := x.chain.report(bad, problem)
	r.Pruned, r.Signed, r.Key, r.Witnessed = x.root.Seq, x.signed.Seq, x.signed.Key, x.witnessed
	r.Found = within(merged(x.found), x.root.Seq, math.MaxInt64)
	if r.OK && r.Last > r.Signed {
		r.Unsigned = &AuditSpan{r.Signed + 1, r.Last}
	}
	return r.Judged()
}

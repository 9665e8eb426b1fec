package kernel_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// seen opens a kernel whose audit chain has a witness in a folder outside the
// home, and whose guardian looks all the time.
func seen(t *testing.T, options ...kerneltest.Option) (k *kerneltest.Kernel, witness string) {
	t.Helper()
	state := t.TempDir()
	k = open(t, append(options, kerneltest.With(func(o *kernel.Options) {
		o.Guard = 20 * time.Millisecond
		env := o.Env
		o.Env = func(name string) string {
			if name == "XDG_STATE_HOME" {
				return state
			}
			return env(name)
		}
	}))...)
	s, err := k.Person().Security.AuditState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k.Until("the witness is told", func() bool {
		s, err = k.Person().Security.AuditState(t.Context())
		return err == nil && s.Witnessed > 0
	})
	if filepath.Dir(s.Witness) != filepath.Join(state, "oxios") {
		t.Fatalf("got the witness %s, want it below %s", s.Witness, state)
	}
	return k, s.Witness
}

// exported is the whole export of the chain.
func exportedChain(t *testing.T, k *kerneltest.Kernel) []byte {
	t.Helper()
	var b bytes.Buffer
	for after := int64(0); ; {
		part, err := k.Person().Security.ExportAudit(t.Context(), after)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(part.Text)
		if after = part.Next; part.Done {
			return b.Bytes()
		}
	}
}

func TestAChainThatIsPutBackIsFoundByItsWitness(t *testing.T) {
	t.Parallel()
	k, witness := seen(t, kerneltest.Script(inboxScript))
	k.Ask("hello")
	export := exportedChain(t, k)
	k.Stop()
	f, err := os.Open(witness)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known, err := kernel.ReadWitness(f)
	if err != nil || len(known) == 0 {
		t.Fatalf("got %v, %v of the witness", known, err)
	}
	// What was exported is compared with the witness on a machine that has neither home nor kernel.
	r, err := kernel.VerifyAuditExport(bytes.NewReader(export), kernel.AuditProof{Key: known[0].Key, Witness: known[:1]})
	if err != nil || !r.OK || r.Signed == 0 || r.Witnessed != known[0].Seq {
		t.Errorf("got %+v, %v of the export", r, err)
	}
	// Whoever has the home cuts the end off, and takes away what stood beside it.
	db, err := sql.Open("sqlite", "file:"+filepath.Join(k.Home, "oxios.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `DELETE FROM audit WHERE seq > (SELECT max(seq) FROM audit) - 3`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(k.Home, "audit", "checkpoints.jsonl")); err != nil {
		t.Fatal(err)
	}
	k.Restart()
	k.Until("it is found", func() bool {
		got := findings(t, k)
		return len(got) == 1 && got[0].Kind == kernel.FindingAudit && strings.Contains(got[0].Message, "witnessed at") && got[0].MessageKO != ""
	})
	if r, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || r.OK || r.FirstBad == 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	s, err := k.Person().Security.AuditState(t.Context())
	if err != nil || s.Checked == nil || s.Checked.OK || s.CheckedAt.IsZero() {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestAWitnessThatCannotBeToldStopsNothingAndIsToldOnce(t *testing.T) {
	t.Parallel()
	k, witness := seen(t, kerneltest.Script(inboxScript))
	dir := filepath.Dir(witness)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "in the way")
	if r := k.Ask("hello"); r.Response == "" {
		t.Errorf("got %+v, want the run to go on", r)
	}
	k.Until("it is told", func() bool {
		got := findings(t, k)
		return len(got) == 1 && got[0].Kind == kernel.FindingWitness && got[0].Bad && got[0].HintKO != ""
	})
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	k.Until("it is mended", func() bool { return len(findings(t, k)) == 0 })
	k.Until("that is recorded", func() bool { return recorded(t, k) == "witness found, witness mended" })
}

func TestNoAgentReachesTheWitness(t *testing.T) {
	t.Parallel()
	k, witness := seen(t)
	refused := func(what string, h *kernel.Handle, path string) {
		t.Helper()
		if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: path, Content: "x"}); sys.CodeOf(err) != sys.CodeRefused {
			t.Errorf("%s: write: got %v, want it refused", what, err)
		}
		if _, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: path}); sys.CodeOf(err) != sys.CodeRefused {
			t.Errorf("%s: read: got %v, want it refused", what, err)
		}
	}
	agent := k.Agent("autonomous")
	refused("its own place", agent, witness)
	link := filepath.Join(k.Folder, "link")
	if err := os.Symlink(filepath.Dir(witness), link); err != nil {
		t.Fatal(err)
	}
	refused("through a link", agent, filepath.Join(link, filepath.Base(witness)))
	// A place that the person chose lies in the very folder in which the agent works.
	mine := filepath.Join(k.Folder, "proof.jsonl")
	if _, err := k.Person().Infra.SetConfig(t.Context(), "audit_witness", mine); err != nil {
		t.Fatal(err)
	}
	k.Until("the new witness is told", func() bool { _, err := os.Stat(mine); return err == nil })
	refused("the person's choice", agent, "proof.jsonl")
	if r, err := agent.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "checkpoint"}); err != nil || len(r.Matches) != 0 {
		t.Errorf("grep: got %+v, %v, want nothing of it", r, err)
	}
	before, err := os.ReadFile(mine)
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "echo x >> proof.jsonl; mv proof.jsonl away; true"})
	after, rerr := os.ReadFile(mine)
	if rerr != nil || !bytes.HasPrefix(after, before) || bytes.Contains(after, []byte("\nx\n")) {
		t.Errorf("a command: got %v; the witness has %d bytes, had %d (%v)", err, len(after), len(before), rerr)
	}
}

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

func TestVerifyMissesEvidenceThatIsGoneUntilItIsBegunAnew(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.must(0, "run", writes)
	d.must(0, "run", writes)
	contains(t, "whole", d.must(0, "audit", "verify").out, "intact")
	if err := os.Remove(filepath.Join(d.Home, "audit", "checkpoints.jsonl")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := d.with(typing{}, "audit", "verify")
		r.check(t, exitFailed, "audit", "verify")
		contains(t, "missing", r.err, "evidence missing or altered", "signed checkpoints", "oxios audit renew")
		if strings.Contains(r.out+r.err, "intact") {
			t.Errorf("got %s%s, want no word of intact", r.out, r.err)
		}
		d.must(0, "run", writes)
	}
	korean := d.with(typing{}, "audit", "verify", "--json")
	if report := decode[kernel.AuditReport](t, korean.out); report.OK || report.Lacks != "checkpoints" || report.ProblemKO == "" || report.VerdictKO != "감사 증거가 없거나 바뀜" {
		t.Errorf("got %+v", report)
	}
	contains(t, "begun anew", d.must(0, "audit", "renew").err, "begins anew", "signed checkpoints")
	r := d.must(0, "audit", "verify")
	contains(t, "told for good", r.err, "The evidence was begun anew after record", "were found, not written here")
	if strings.Contains(r.out, "intact.") {
		t.Errorf("got %s", r.out)
	}
	kept, err := filepath.Glob(filepath.Join(d.Home, "audit", "checkpoints.jsonl.until-*"))
	if err != nil || len(kept) != 1 {
		t.Errorf("got %v, %v; want the old file kept", kept, err)
	}
}

func TestAHomeMadeAnewUnderAnOldWitnessIsToldAndCanBeginItsEvidence(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	d := setup(t, kerneltest.With(func(o *kernel.Options) {
		env := o.Env
		o.Env = func(name string) string {
			if name == "XDG_STATE_HOME" {
				return state
			}
			return env(name)
		}
	}))
	d.must(0, "run", writes)
	contains(t, "the first home", d.must(0, "audit", "verify").out, "intact")
	if err := os.RemoveAll(d.Home); err != nil {
		t.Fatal(err)
	}
	d.must(0, "config", "set", "mode", "ask")
	r := d.with(typing{}, "audit", "verify")
	r.check(t, exitFailed, "audit", "verify")
	contains(t, "the same home again", r.err, "oxios audit renew")
	d.must(0, "audit", "renew")
	contains(t, "told for good", d.must(0, "audit", "verify").err, "The evidence was begun anew after record")
}

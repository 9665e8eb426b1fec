package kernel

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"oxios/kernel/health"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The states of a [Check].
const (
	CheckOK   = health.OK
	CheckWarn = health.Warn
	CheckFail = health.Fail
)

// Check is one thing that the doctor looked at.
type Check = health.Check

// DoctorReport says how this Oxios stands on this machine.
type DoctorReport struct {
	Version   string        `json:"version"`
	System    string        `json:"system"`
	Isolation sys.Isolation `json:"isolation"`
	Checks    []Check       `json:"checks"`
}

// Doctor looks at the home, the database, the audit chain, the isolation, the
// models and the programs that agents use.
func (a *InfraAPI) Doctor(ctx context.Context) (DoctorReport, error) {
	return guard(ctx, a.caller, action{call: "infra.doctor", resource: "doctor"}, func(ctx context.Context) (DoctorReport, error) {
		r := DoctorReport{Version: a.k.opts.Version, System: runtime.GOOS + "/" + runtime.GOARCH, Isolation: a.k.isolation()}
		for _, check := range []func(context.Context) Check{
			a.k.checkHome, a.k.checkConfig, a.k.checkDatabase, a.k.checkAudit, a.k.checkIsolation, a.k.checkLimits, a.k.checkTries, a.k.checkModels, a.k.checkPrices, a.k.checkKeys, a.k.checkEmbedder, a.k.checkWorkFolder, a.k.checkWorkspace, a.k.checkSleep, a.k.checkMemory, a.k.checkGuardian,
		} {
			r.Checks = append(r.Checks, check(ctx))
		}
		ofParts(a.k, func(p examined) { r.Checks = append(r.Checks, p.Checks(ctx)...) })
		for _, p := range []string{"bash", "git"} {
			r.Checks = append(r.Checks, a.k.checkProgram(p))
		}
		return r, nil
	})
}

func (k *Kernel) checkHome(context.Context) Check {
	c := Check{Name: "home", State: CheckOK, Detail: plain(shortenHome(k.opts.Home))}
	info, err := os.Stat(k.opts.Home)
	switch {
	case err != nil:
		c.State, c.Detail = CheckFail, sys.TextOf(err)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		c.State, c.Detail, c.Hint = CheckFail, sys.Say("%s is open to others (mode %o).", shortenHome(k.opts.Home), info.Mode().Perm()), sys.Say("Run chmod 700 on it.")
	}
	return c
}

func (k *Kernel) checkConfig(context.Context) Check {
	v := k.config.view()
	c := Check{Name: "config", State: CheckOK, Detail: plain(shortenHome(v.Path))}
	if _, err := os.Stat(v.Path); err != nil {
		c.Detail = sys.Say("%s (not made yet: the defaults are in force)", shortenHome(v.Path))
	}
	if v.Problem != nil {
		c.State = CheckFail
		c.Detail, c.Hint = v.Problem.Words()
	}
	return c
}

func (k *Kernel) checkDatabase(ctx context.Context) Check {
	c := Check{Name: "database", State: CheckOK, Detail: sys.Say("intact")}
	if info, err := os.Stat(k.store.Path()); err == nil {
		c.Detail = sys.Say("intact, %.1f MB", float64(info.Size())/(1<<20))
	}
	if err := k.store.Check(ctx); err != nil {
		c.State, c.Detail = CheckFail, sys.TextOf(err)
		c.Hint = sys.Say("Copies made before changes of the database lie beside it; `oxios doctor --restore FILE` goes back to one.")
	}
	return c
}

func (k *Kernel) checkAudit(ctx context.Context) Check {
	r, err := k.audit.VerifyAll(ctx, k.opts.Home)
	switch {
	case err != nil:
		return Check{Name: "audit", State: CheckFail, Detail: sys.TextOf(err)}
	}
	k.noteChecked(r)
	switch r = r.Judged(); {
	case r.Lacks != "":
		return Check{Name: "audit", State: CheckFail, Detail: sys.Words{EN: r.Problem, KO: r.ProblemKO}, Hint: sys.Say("Find out who changed it. `oxios audit renew` begins the evidence anew and keeps what is there.")}
	case !r.OK:
		return Check{Name: "audit", State: CheckFail, Detail: sys.Words{EN: r.Problem, KO: r.ProblemKO}, Hint: sys.Say("Export the chain with `oxios audit export` before you do anything else. If you deleted this home and began a new one, `oxios audit renew` begins its evidence anew.")}
	case len(r.Found) > 0 || len(r.Renewals) > 0:
		return Check{Name: "audit", State: CheckWarn, Detail: sys.Words{EN: r.Verdict, KO: r.VerdictKO}, Hint: sys.Say("`oxios audit verify` says which.")}
	}
	return Check{Name: "audit", State: CheckOK, Detail: sys.Say("%d records, intact", r.Entries)}
}

func (k *Kernel) checkIsolation(ctx context.Context) Check {
	r := k.sandbox.Probe(ctx)
	held := 0
	for _, n := range r.Canaries {
		if n.Held {
			held++
		}
	}
	c := Check{Name: "isolation", State: CheckOK, Detail: sys.Say("level %d of 3: commands are contained; %d of %d trials held", r.Level, held, len(r.Canaries))}
	if r.Level == sys.IsolationPartial {
		c.Detail, c.Hint = sys.Say("level %d of 3: commands are partly contained; %d of %d trials held. %s", r.Level, held, len(r.Canaries), r.Problem), sys.Say("They see names of files outside, and an approved network is all of it.")
	}
	if !r.Level.Contained() {
		c.State, c.Detail, c.Hint = CheckWarn, sys.Say("level %d of 3: commands are not contained. %s", r.Level, r.Problem), sys.Say("Agents ask before every command that is not read-only.")
		if r.Level < sys.IsolationLimits {
			c.Hint = sys.Say("Agents ask before every command.")
		}
		if k.opts.Helper == "" {
			c.Hint = sys.Say("The program `oxios` must lie beside `oxios-desktop`: it runs the commands.")
		}
	}
	return c
}

// checkLimits says what holds the memory of commands. Where it is watched, the
// person can seldom do anything about it, so that it is no fault.
func (k *Kernel) checkLimits(ctx context.Context) Check {
	c := Check{Name: "limits", State: CheckOK, Detail: sys.Say("memory and processes of commands are held by cgroups")}
	switch why := k.sandbox.Probe(ctx).Watched; {
	case runtime.GOOS != "linux" || k.opts.Helper == "":
		c.Detail = sys.Say("memory and processes of commands are not limited on this system")
	case why != sys.Words{}:
		c.Detail = sys.Say("memory and processes of commands are watched, and what is over its limit is ended. %s", why)
	}
	return c
}

// checkTries says whether commands can be tried on a copy. That they cannot is no
// fault of the home.
func (k *Kernel) checkTries(ctx context.Context) Check {
	c := Check{Name: "try", State: CheckOK, Detail: sys.Say("commands can be tried on a copy before they are approved")}
	if why := k.canCopy(ctx); why != nil {
		c.Detail, c.Hint = sys.AsError(why).Words()
		if k.isolation() >= sys.IsolationFull {
			c.State = CheckWarn
		} else {
			c.Hint = sys.Words{} // the isolation says what to do
		}
	}
	return c
}

func (k *Kernel) checkModels(ctx context.Context) Check {
	ch, err := k.engine.choose(ctx, "", "")
	if err != nil {
		detail, hint := sys.AsError(err).Words()
		return Check{Name: "model", State: CheckWarn, Detail: detail, Hint: hint}
	}
	if rest, ok := k.engine.breakers.Rest(ch.provider); ok {
		return Check{
			Name: "model", State: CheckWarn, Detail: sys.Say("%s failed several times in a row. Oxios tries it again in %s.", k.engine.nameOf(ch.provider), rest.Round(time.Second)),
			Hint: sys.Say("Wait, or choose another model in Settings, Models."),
		}
	}
	return Check{Name: "model", State: CheckOK, Detail: sys.Say("%s of %s", ch.model, ch.provider)}
}

// checkPrices looks at the person's own list of models.
func (k *Kernel) checkPrices(context.Context) Check {
	c := Check{Name: "prices", State: CheckOK, Detail: sys.Say("built in, as of %s", k.engine.catalogue().AsOf())}
	if _, err := os.Stat(k.engine.pricesFile()); err == nil {
		c.Detail = sys.Say("built in, and %s", shortenHome(k.engine.pricesFile()))
	}
	if e := k.engine.pricesProblem.Load(); e != nil {
		c.State = CheckFail
		c.Detail, c.Hint = e.Words()
	}
	return c
}

func (k *Kernel) checkKeys(ctx context.Context) Check {
	infos, err := k.keys.List()
	if errors.Is(err, security.ErrKeysLocked) {
		detail, hint := sys.AsError(err).Words()
		return Check{Name: "keys", State: CheckWarn, Detail: detail, Hint: hint}
	}
	if err != nil {
		detail, hint := sys.AsError(err).Words()
		return Check{Name: "keys", State: CheckFail, Detail: detail, Hint: hint}
	}
	where := map[string]int{}
	for _, i := range infos {
		where[i.Where]++
	}
	if loose := k.guardLoose(ctx, true); loose != nil {
		return Check{Name: "keys", State: CheckWarn, Detail: sys.Words{EN: loose.Message, KO: loose.MessageKO}, Hint: sys.Words{EN: loose.Hint, KO: loose.HintKO}}
	}
	return Check{Name: "keys", State: CheckOK, Detail: sys.Say("%d in the keyring, %d in the encrypted file", where["keyring"], where["file"])}
}

// checkEmbedder says whether memories are found by all their vectors.
func (k *Kernel) checkEmbedder(ctx context.Context) Check {
	v, err := k.embeddings.view(ctx)
	switch {
	case err != nil:
		return Check{Name: "embedder", State: CheckFail, Detail: sys.TextOf(err)}
	case v.Embedder == "":
		return Check{Name: "embedder", State: CheckOK, Detail: sys.Say("built in")}
	}
	c := Check{Name: "embedder", State: CheckOK, Detail: sys.Say("%d of %d memories have vectors of %s", v.Done, v.Total, v.Embedder)}
	if v.Damaged > 0 {
		c.State, c.Hint = CheckWarn, sys.Say("%d vectors could not be read and were made anew.", v.Damaged)
	}
	if e := cmp.Or(v.Error, v.QueryError); e != nil {
		c.State = CheckWarn
		c.Detail, c.Hint = e.Words()
	}
	return c
}

func (k *Kernel) checkWorkFolder(context.Context) Check {
	folder := k.config.get().workFolder()
	c := Check{Name: "folder", State: CheckOK, Detail: plain(shortenHome(folder))}
	if _, err := os.Stat(folder); err != nil {
		c.Detail = sys.Say("%s (made when it is first used)", shortenHome(folder))
		if _, err := os.Stat(filepath.Dir(folder)); err != nil {
			c.State, c.Hint = CheckFail, sys.Say("Set another one with `oxios config set folder`.")
		}
	}
	return c
}

func (k *Kernel) checkProgram(name string) Check {
	path, err := exec.LookPath(name)
	if err != nil {
		return Check{Name: name, State: CheckWarn, Detail: sys.Say("not found"), Hint: sys.Say("Agents can do less without it.")}
	}
	return Check{Name: name, State: CheckOK, Detail: plain(path)}
}

// plain is a text that both languages share.
func plain(text string) sys.Words { return sys.Words{EN: text} }

// RestoreDatabase puts a copy of the database in its place, in a home that no
// kernel uses, and returns where the replaced one now lies. Copies are made
// before a newer version changes the database.
func RestoreDatabase(ctx context.Context, home, backup string) (replaced string, err error) {
	lock, err := lockHome(home, "restore")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return store.RestoreBackup(ctx, filepath.Join(home, "oxios.db"), backup)
}

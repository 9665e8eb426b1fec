package security

import (
	"slices"

	"oxios/kernel/sys"
)

// maxSecretLooks is how many names of a folder are looked at for secret files. In
// one with more a command that reads all of it counts as one that reads them.
const maxSecretLooks = 100_000

// At is the verdict on a machine with this isolation, where it matters for what
// only looks. At level 3 secret files are taken out of the view of such a command;
// below it nothing can be taken out of a folder, so that one which reads whole
// folders asks where such files are. Below level 2 nothing holds what git starts
// while it looks, so it asks where the repository names a program.
func (v Verdict) At(isolation sys.Isolation, home string) Verdict {
	if v.Tier >= TierRefuse {
		return v
	}
	holds := func(tree string) bool {
		found, all := SecretsBelow(tree, home, maxSecretLooks)
		return len(found) > 0 || !all
	}
	if v.Recurses && isolation < sys.IsolationFull && slices.ContainsFunc(v.Trees, holds) {
		v.asks(EffectOutside, cmdReadsPrivate)
	}
	if v.ReadOnly && isolation < sys.IsolationPartial && slices.ContainsFunc(v.Repositories, GitRunsPrograms) {
		v.ReadOnly = false
		v.asks(EffectExecute, cmdRunsSettings)
	}
	return v
}

func (v *Verdict) asks(effect Effect, why cmdReason) {
	if effectRank[effect] > effectRank[v.Effect] {
		v.Effect = effect
	}
	v.Tier, v.Reason, v.ReasonKO = max(v.Tier, TierAsk), why.en, why.ko
}

// InRepository is the verdict on a line of git whose repository lies outside the
// folder, at a path as a person reads it: a change there asks by this name.
func (v Verdict) InRepository(at string) Verdict {
	if v.Tier >= TierRefuse || !v.ChangesGit {
		return v
	}
	v.Repository = at
	if v.Reason == cmdChangesGit.en || v.Tier < TierAsk {
		why := v.repositoryWords()
		v.Tier, v.Reason, v.ReasonKO = max(v.Tier, TierAsk), why.EN, why.KO
	}
	return v
}

func (v Verdict) repositoryWords() sys.Words {
	return sys.Words{EN: "changes the repository at " + v.Repository, KO: v.Repository + "에 있는 저장소를 변경합니다"}
}

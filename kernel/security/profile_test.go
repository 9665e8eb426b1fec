package security

import (
	"math/rand/v2"
	"testing"

	"oxios/kernel/sys"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEachProfileHoldsTheNarrowerOnes(t *testing.T) {
	t.Parallel()
	var narrower CSpace
	for _, name := range ProfileNames() {
		space, err := Profile(name)
		if err != nil {
			t.Fatalf("profile %q: %v", name, err)
		}
		if !narrower.SubsetOf(space) || space.SubsetOf(narrower) {
			t.Errorf("profile %q: got %v, want strictly more than %v", name, space, narrower)
		}
		narrower = space
	}
}

func TestProfilesArePublishedAsWritten(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		ProfileWorker:   "browser:RWX exec:RWX infra:R knowledge:RW llm:X state:R",
		ProfileStandard: "browser:RWX exec:RWX infra:R knowledge:RW llm:X memory:R state:R",
		ProfileOperator: "a2a:RWX agents:RWX browser:RWX exec:RWX infra:R knowledge:RW llm:RX mcp:RWX memory:RW persona:RW program:RWX space:RW state:RW",
		ProfileSupervisor: "a2a:RWX agents:RWX browser:RWX budget:RW cron:RWX exec:RWX git:RWX infra:R knowledge:RW llm:RX mcp:RWX memory:RW persona:RW program:RWX " +
			"resource:RW security:RW space:RW state:RW",
	}
	got := map[string]string{}
	for _, name := range ProfileNames() {
		space, err := Profile(name)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = space.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("profiles differ (-want +got):\n%s", diff)
	}
}

func TestProfileReturnsACopy(t *testing.T) {
	t.Parallel()
	first, _ := Profile(ProfileWorker)
	first[DomainSecurity] = allRights
	second, _ := Profile(ProfileWorker)
	if second.Allows(DomainSecurity, R) {
		t.Error("got a profile that a caller widened for everybody, want a copy for each")
	}
}

func TestUnknownCallersMayDoNothing(t *testing.T) {
	t.Parallel()
	for _, p := range []sys.Principal{{}, {Kind: "robot"}, {Kind: sys.KindAgent}, {Kind: sys.KindAgent, Profile: "root"}} {
		space, err := SpaceOf(p)
		if err == nil || len(space) != 0 {
			t.Errorf("SpaceOf(%+v): got %v, %v, want an error and nothing", p, space, err)
		}
	}
	person, err := SpaceOf(sys.Person("window"))
	if err != nil || !person.Allows(DomainSecurity, R|W|X) {
		t.Errorf("the person: got %v, %v, want everything", person, err)
	}
	guardian, err := SpaceOf(sys.Principal{Kind: sys.KindGuardian})
	if err != nil || !guardian.Allows(DomainSecurity, R) || guardian.Allows(DomainSecurity, W) {
		t.Errorf("the guardian: got %v, %v, want to look and no more", guardian, err)
	}
	if person.Allows(DomainExec, 0) {
		t.Error("a call that needs no right was allowed, want it refused")
	}
}

// Rapid draws the seeds, each seed grows a thousand trees: 100 draws make
// 100,000 trees.
func TestDelegationNeverWidens(t *testing.T) {
	t.Parallel()
	domains := append(Domains(), "unheard-of")
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		random := func() CSpace {
			c := CSpace{}
			for _, d := range domains {
				if rng.IntN(2) == 0 {
					c[d] = Rights(rng.Uint32() & 0xff)
				}
			}
			return c
		}
		for range 1000 {
			root := random()
			path := []CSpace{root}
			for range 1 + rng.IntN(5) {
				parent := path[rng.IntN(len(path))]
				asked := random()
				child := parent.Intersect(asked)
				if !child.SubsetOf(parent) || !child.SubsetOf(asked) || !child.SubsetOf(root) {
					t.Fatalf("child %v is wider than its parent %v, what it asked %v or the root %v", child, parent, asked, root)
				}
				d, r := domains[rng.IntN(len(domains))], Rights(1+rng.IntN(255))
				if child.Allows(d, r) != (parent.Allows(d, r) && asked.Allows(d, r)) {
					t.Fatalf("%s:%v: child %v, parent %v, asked %v", d, r, child, parent, asked)
				}
				path = append(path, child)
			}
		}
	})
}

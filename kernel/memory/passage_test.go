package memory_test

import (
	"slices"
	"strings"
	"testing"

	"oxios/kernel/memory"
	"oxios/kernel/store"
)

// bees are so many paragraphs that say nothing of what is asked for.
func bees(n int) string {
	return strings.Repeat("Bees fly over the meadow behind the house, and the honey goes into jars of every size.\n\n", n)
}

func TestWhatStandsTogetherInALongMemoryIsFoundFirst(t *testing.T) {
	t.Parallel()
	f := setup(t)
	together := bees(80) + "The boiler service has the phone number 555 0199."
	scattered := "The boiler hums. The boiler is old.\n\n" + bees(20) + "Service on Sunday, with a service book.\n\n" + bees(20) + "Phone the beekeeper, or phone the neighbour.\n\n" + bees(20) + "A number of hives, a number of jars."
	labels := store.Labels{{ID: "web:example.com"}}
	m := f.add(t, memory.New{Text: together, Labels: labels})
	f.add(t, memory.New{Text: scattered})
	f.add(t, memory.New{Text: together, Space: "other"})
	if len(m.Text) > memory.MaxText || len(m.Text) < 7000 {
		t.Fatalf("the memory has %d bytes", len(m.Text))
	}
	ask := func(want ...string) {
		t.Helper()
		if got := f.search(t, "", "phone number of the boiler service"); !slices.Equal(got, want) {
			t.Errorf("got %d memories, the first begins with %.40q; want %d", len(got), slices.Concat(got, []string{""})[0], len(want))
		}
	}
	ask(together, scattered) // each once, and none of the other space
	found, err := f.Search(t.Context(), memory.Search{Text: "phone number of the boiler service", K: 1})
	if err != nil || len(found) != 1 || found[0].ID != m.ID || len(found[0].Labels) != 1 || found[0].Cover < 0.99 {
		t.Errorf("got %+v, %v", found, err)
	}
	if err := f.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(together, scattered)

	// The passages go with the text.
	short := "The boiler is sold."
	if _, err := f.Update(t.Context(), m.ID, memory.Patch{Text: &short}); err != nil {
		t.Fatal(err)
	}
	ask(scattered, short)
	if _, err := f.Forget(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	ask(scattered)
}

func TestManyPassagesOfOneMemoryLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	f := setup(t)
	long := strings.Repeat(strings.Repeat("rocket ", 60)+"\n\n", 18)
	var want []string
	for _, n := range []string{"one", "two", "three", "four", "five"} {
		for range 3 {
			f.add(t, memory.New{Text: long + n})
			n += "!"
		}
		short := "A " + n + " of stages has the rocket, and much besides that takes a while to tell."
		f.add(t, memory.New{Text: short})
		want = append(want, short)
	}
	found, err := f.Search(t.Context(), memory.Search{Text: "rocket", K: 20})
	if err != nil || len(found) != 20 {
		t.Fatalf("got %d, %v; want all twenty", len(found), err)
	}
	for _, text := range want {
		if !slices.ContainsFunc(found, func(m memory.Found) bool { return m.Text == text }) {
			t.Errorf("%q is missing", text)
		}
	}
}

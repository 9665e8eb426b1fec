package retrieval

// threads are the conversations that texts stand in, by numbers from 1 on. The
// number of one that is empty is given to the next.
type threads struct {
	numbers map[string]int32
	names   []string
	last    []int32 // the last text of each
	free    []int32
}

func newThreads() threads {
	return threads{numbers: map[string]int32{}, names: []string{""}, last: []int32{-1}}
}

// number is the number of a thread, which is made when it is new.
func (t *threads) number(name string) int32 {
	if name == "" {
		return 0
	}
	n, ok := t.numbers[name]
	switch {
	case ok:
		return n
	case len(t.free) > 0:
		n, t.free = t.free[len(t.free)-1], t.free[:len(t.free)-1]
		t.names[n] = name
	default:
		n = int32(len(t.names)) //nolint:gosec // there are no more threads than texts
		t.names, t.last = append(t.names, name), append(t.last, -1)
	}
	t.numbers[name], t.last[n] = n, -1
	return n
}

// link puts a text into its thread. Most come in their order, so the place is
// looked for from the end.
func (x *Index) link(n int32) {
	d := &x.places[n]
	if d.thread == 0 {
		return
	}
	before := x.threads.last[d.thread]
	for before >= 0 && x.docs[n].before(&x.docs[before]) {
		d.next, before = before, x.places[before].prev
	}
	d.prev = before
	if before >= 0 {
		x.places[before].next = n
	}
	if d.next >= 0 {
		x.places[d.next].prev = n
	} else {
		x.threads.last[d.thread] = n
	}
}

func (x *Index) unlink(n int32) {
	d := &x.places[n]
	if d.thread == 0 {
		return
	}
	if d.prev >= 0 {
		x.places[d.prev].next = d.next
	}
	switch {
	case d.next >= 0:
		x.places[d.next].prev = d.prev
	case d.prev >= 0:
		x.threads.last[d.thread] = d.prev
	default:
		delete(x.threads.numbers, x.threads.names[d.thread])
		x.threads.free = append(x.threads.free, d.thread)
	}
}

// before tells whether a text stands before another one of its thread.
func (s *slot) before(o *slot) bool { return s.at < o.at || s.at == o.at && s.id < o.id }

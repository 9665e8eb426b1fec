package sandbox

import "time"

// minFree is how much of a disk a command leaves free.
const minFree = 500 << 20

const diskEvery = 200 * time.Millisecond

// disks watches the free space of the file systems that a command writes.
type disks struct {
	free   func(path string) (int64, error)
	limit  int64
	places []diskPlace
}

type diskPlace struct {
	path  string
	start int64 // bytes that were free when the command began
}

// watchDisks begins to watch what lies at paths. What cannot be measured now never is.
func (r *Runner) watchDisks(limit int64, paths ...string) *disks {
	d := &disks{free: r.cfg.Free, limit: limit}
	if limit <= 0 {
		return d
	}
	for _, p := range paths {
		if n, err := d.free(p); p != "" && err == nil {
			d.places = append(d.places, diskPlace{p, n})
		}
	}
	return d
}

// over reports whether one of the disks has lost more than the limit, or has become
// as good as full. Where it was so to begin with, a command may have half of what
// is left.
func (d *disks) over() bool {
	for _, p := range d.places {
		n, err := d.free(p.path)
		if err != nil {
			continue
		}
		least := int64(minFree)
		if p.start < least {
			least = p.start / 2
		}
		if p.start-n > d.limit || n < least {
			return true
		}
	}
	return false
}

// watch calls full once they are over, and looks no more. It ends with done.
func (d *disks) watch(done <-chan struct{}, full func()) {
	if len(d.places) == 0 {
		return
	}
	tick := time.NewTicker(diskEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if d.over() {
				full()
				return
			}
		}
	}
}

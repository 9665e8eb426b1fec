package kernel

import (
	"hash/maphash"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"oxios/kernel/undo"
)

// maxHidden is how many paths are looked at in the places that the index of a folder
// leaves out. With more of them it counts as unknown what was done there.
const maxHidden = 50_000

// hiddenPlaces tells how the places are that the index of a folder leaves out: a
// mark for each, 0 where there is too much to say.
func hiddenPlaces(folder string, skipped []string) map[string]uint64 {
	out := map[string]uint64{}
	var left atomic.Int64
	left.Store(maxHidden)
	for _, rel := range skipped {
		top := filepath.Join(folder, filepath.FromSlash(rel))
		out[top] = hiddenMark(top, &left)
	}
	return out
}

// hiddenMark is the sum of a mark for each path of a place, which is the same in
// whatever order its folders are read: as many at a time as there are processors.
func hiddenMark(top string, left *atomic.Int64) uint64 {
	var sum atomic.Uint64
	mark := func(path string, stamp undo.Stamp) { sum.Add(maphash.Comparable(markSeed, hiddenPath{path, stamp})) }
	if info, err := os.Lstat(top); err == nil {
		mark(top, undo.Stamp{Changed: undo.ChangedAt(info)})
	}
	var folders sync.WaitGroup
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	var read func(at string)
	read = func(at string) {
		turn <- struct{}{}
		defer func() { <-turn }()
		dir, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe may stand there by now
		if err != nil {
			return // it may not be read, by nobody who works here, or went
		}
		defer dir.Close()
		entries, _ := dir.ReadDir(-1)
		for _, e := range entries {
			if left.Add(-1) < 0 {
				return
			}
			stamp, err := undo.StampIn(dir, e.Name())
			if err != nil {
				continue
			}
			path := filepath.Join(at, e.Name())
			mark(path, stamp)
			if e.IsDir() {
				folders.Go(func() { read(path) })
			}
		}
	}
	folders.Go(func() { read(top) })
	folders.Wait()
	if left.Load() < 0 {
		return 0
	}
	return max(sum.Load(), 1)
}

// hiddenPath is what a mark holds of a path. The time of the inode tells of every
// change, and no command can set it.
type hiddenPath struct {
	path  string
	stamp undo.Stamp
}

// markSeed is unknown outside: nobody can choose names that make two marks the same.
var markSeed = maphash.MakeSeed()

// changedHidden are the places whose marks differ, or say nothing.
func changedHidden(before, after map[string]uint64) (out []string) {
	for place, mark := range after {
		if mark == 0 || before[place] != mark {
			out = append(out, place)
		}
	}
	slices.Sort(out)
	return out
}

// looking waits for the marks of hidden places, and looks at those that were not known
// when it began.
type looking func(places []string) map[string]uint64

// lookAt begins to look at the hidden places that are known of a folder, beside the look
// that its index takes.
func lookAt(folder string, known []string) looking {
	got := make(chan map[string]uint64, 1)
	go func() { got <- hiddenPlaces(folder, known) }()
	return func(places []string) map[string]uint64 {
		out := <-got
		maps.Copy(out, hiddenPlaces(folder, slices.DeleteFunc(slices.Clone(places), func(p string) bool { return slices.Contains(known, p) })))
		for _, gone := range known {
			if !slices.Contains(places, gone) {
				delete(out, filepath.Join(folder, filepath.FromSlash(gone)))
			}
		}
		return out
	}
}

// unlooked says of each place that nothing is known of it.
func unlooked(folder string) looking {
	return func(places []string) map[string]uint64 {
		out := map[string]uint64{}
		for _, rel := range places {
			out[filepath.Join(folder, filepath.FromSlash(rel))] = 0
		}
		return out
	}
}

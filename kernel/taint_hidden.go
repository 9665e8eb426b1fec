package kernel

import (
	"encoding/binary"
	"hash/maphash"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"oxios/kernel/undo"
)

// maxHidden is how many paths are looked at in the places that the index of a folder
// leaves out. With more of them it counts as unknown what was done there.
const maxHidden = 50_000

// hiddenPlaces tells how the places are that the index of a folder leaves out: a
// mark for each, 0 where there is too much to say.
func hiddenPlaces(folder string, skipped []string) map[string]uint64 {
	out := map[string]uint64{}
	left := maxHidden
	var of maphash.Hash
	of.SetSeed(markSeed)
	var line []byte
	for _, rel := range skipped {
		top := filepath.Join(folder, filepath.FromSlash(rel))
		of.Reset()
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it may not be read, by nobody who works here, or went
			}
			if left--; left < 0 {
				return fs.SkipAll
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			// The time of the inode tells of every change, and no command can set it.
			line = append(append(line[:0], path...), 0)
			line = binary.LittleEndian.AppendUint64(line, uint64(undo.ChangedAt(info)))
			line = binary.LittleEndian.AppendUint64(line, uint64(info.Size()))
			_, _ = of.Write(line)
			return nil
		})
		if out[top] = max(of.Sum64(), 1); err != nil || left < 0 {
			out[top] = 0
		}
	}
	return out
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

package skill

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"oxios/kernel/sys"
)

// Bounds of one search.
const (
	maxSearchDepth   = 6
	maxSearchFolders = 2000
)

// Root is a folder in which skills are looked for.
type Root struct {
	Path    string // on the disk; of embedded files only a name to show
	FS      fs.FS  // instead of what is at Path: files that are embedded
	Source  Source
	Trusted bool // the person trusts what lies there
}

// Catalog is what a search found.
type Catalog struct {
	Skills []Skill   `json:"skills"` // one for each name, the strongest sources first, by path in each
	Left   []LeftOut `json:"left,omitempty"`
}

// LeftOut is a folder that holds a skill, or may hold some, and why it is not
// used.
type LeftOut struct {
	Dir    string    `json:"dir"`
	Source Source    `json:"source"`
	Name   string    `json:"name,omitempty"` // of a skill that another one hides
	Why    sys.Words `json:"why"`
}

// Find looks for skills in all roots: in each at most six folders deep and in at
// most 2,000 folders, no further below a skill, and through no link. Of skills
// with one name the one of the stronger source is used, then the one of the
// earlier root, and warns of those that it hides; two names that differ in case or
// in the form of Unicode are one. A root that is not trusted is not read; one
// that does not exist has no skills. Find computes no hashes, and knows nothing of
// skills that are disabled.
func Find(ctx context.Context, roots []Root) Catalog {
	var c Catalog
	ordered := make([][]Root, SourceBundled.rank()+1)
	for _, r := range roots {
		ordered[r.Source.rank()] = append(ordered[r.Source.rank()], r)
	}
	byName := map[string]int{}
	for _, roots := range ordered {
		for _, r := range roots {
			for _, s := range c.search(ctx, r) {
				at, taken := byName[fold(s.Name)]
				if !taken {
					byName[fold(s.Name)] = len(c.Skills)
					c.Skills = append(c.Skills, s)
					continue
				}
				c.hide(&c.Skills[at], s)
			}
		}
	}
	return c
}

// hide leaves out a skill because of another one with its name.
func (c *Catalog) hide(by *Skill, s Skill) {
	if by.Name == s.Name {
		by.warn(sys.Say("It hides another skill with this name in %s.", s.Dir))
	} else {
		by.warn(sys.Say("It hides the skill %q in %s: the two names differ only in case or in how characters are stored.", visible(s.Name), s.Dir))
	}
	c.Left = append(c.Left, LeftOut{s.Dir, s.Source, s.Name, sys.Say("The skill %q in %s is used instead.", visible(by.Name), by.Dir)})
}

func (c *Catalog) leave(r Root, dir string, why sys.Words) {
	c.Left = append(c.Left, LeftOut{Dir: r.at(dir), Source: r.Source, Why: why})
}

// at is where a slash path below the root is.
func (r Root) at(dir string) string {
	if r.FS != nil {
		return path.Join(r.Path, dir)
	}
	return filepath.Join(r.Path, filepath.FromSlash(dir))
}

// search goes through one root, level by level.
func (c *Catalog) search(ctx context.Context, r Root) (skills []Skill) {
	fsys := r.FS
	if fsys == nil {
		tree, err := Open(r.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			c.leave(r, ".", sys.Say("The folder cannot be read: %s.", err))
			return nil
		}
		defer tree.Close()
		fsys = tree
	}
	if !r.Trusted {
		c.leave(r, ".", sys.Say("The folder is not trusted."))
		return nil
	}
	folders := 0
	level := []string{"."}
	for depth := 0; len(level) > 0; depth++ {
		var below []string
		for _, dir := range level {
			if ctx.Err() != nil {
				return skills
			}
			if folders++; folders > maxSearchFolders {
				c.leave(r, dir, sys.Say("Only %d folders are searched; this one and those after it were not.", maxSearchFolders))
				return skills
			}
			list, more, err := entries(fsys, dir)
			if err != nil {
				c.leave(r, dir, sys.Say("The folder cannot be read: %s.", err))
				continue
			}
			if more {
				c.leave(r, dir, sys.Say("Only the first %d names of this folder were looked at.", maxEntries))
			}
			if s, is := c.load(r, fsys, dir, list); is {
				if s.Name != "" {
					skills = append(skills, s)
				}
				continue
			}
			below = append(below, c.folders(r, fsys, dir, list)...)
		}
		if depth == maxSearchDepth {
			break
		}
		level = below
	}
	return skills
}

// load reads the skill in a folder; is says that the folder holds one, usable or
// not.
func (c *Catalog) load(r Root, fsys fs.FS, dir string, list []fs.DirEntry) (s Skill, is bool) {
	for _, e := range list {
		if !isSkillFile(e.Name()) || e.IsDir() || dir == "." {
			continue
		}
		if !e.Type().IsRegular() {
			c.leave(r, dir, sys.Say("%s is not a regular file.", e.Name()))
			return Skill{}, true
		}
		s, err := Load(fsys, dir)
		if err != nil {
			c.leave(r, dir, sys.TextOf(err))
			return Skill{}, true
		}
		s.Dir, s.Source = r.at(dir), r.Source
		return s, true
	}
	return Skill{}, false
}

// folders are the folders below one in which skills may be.
func (c *Catalog) folders(r Root, fsys fs.FS, dir string, list []fs.DirEntry) (below []string) {
	for _, e := range list {
		name := path.Join(dir, e.Name())
		switch {
		case e.Name() == ".git" || e.Name() == "node_modules":
		case e.IsDir():
			below = append(below, name)
		case e.Type()&fs.ModeSymlink != 0:
			if target, err := fs.ReadLink(fsys, name); err == nil && leaves(name, target) {
				c.leave(r, name, sys.Say("A link that leads out of the folder is not followed. Install the skill from there."))
			}
		}
	}
	return below
}

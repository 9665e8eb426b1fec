package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

const (
	maxNodes = 2000 // of a graph, unless less is asked for
	maxDepth = 3    // of a graph around a note
)

// Node is one file of the graph, or a name that links use and no file has.
type Node struct {
	Path    string   `json:"path"` // of what is missing: what links call it
	Title   string   `json:"title"`
	Tags    []string `json:"tags,omitempty"`
	Links   int      `json:"links"` // that lead to it, from other notes
	Missing bool     `json:"missing,omitempty"`
}

// Edge says that one note links to another, at least once. From and To are
// places in [Graph.Nodes].
type Edge struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Graph is notes, and the files they show, with their links.
type Graph struct {
	Nodes []Node `json:"nodes"` // by path, those that are missing last
	Edges []Edge `json:"edges"`
	Left  int    `json:"left,omitempty"` // nodes that were left out because there are too many
}

// GraphQuery chooses a part of the graph. Its zero value chooses all.
type GraphQuery struct {
	Path  string `json:"path,omitempty"`  // of the note in the middle; "" for the whole vault
	Depth int    `json:"depth,omitempty"` // links away from it, 1 to 3; 0 is 1
	Most  int    `json:"most,omitempty"`  // nodes; 0 is 2000, which is the most
}

// Graph returns notes and their links. A file that is no note is a node when a
// note links to it. When there are too many, the nearest to the note in the
// middle stay, then those with the most links.
func (v *Vault) Graph(ctx context.Context, q GraphQuery) (Graph, error) {
	if err := v.ready(ctx); err != nil {
		return Graph{}, err
	}
	middle := ""
	if q.Path != "" {
		p, err := v.named(ctx, q.Path)
		if err != nil {
			return Graph{}, err
		}
		middle = p
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	n := net{ix: v.ix, away: map[point]int{}, links: map[[2]point]bool{}, in: map[point]int{}}
	if f := v.ix.files[middle]; f != nil {
		n.around(f, min(max(q.Depth, 1), maxDepth))
	} else {
		for _, f := range v.ix.files {
			if f.note {
				n.away[point{file: f}] = 0
			}
		}
	}
	for _, f := range v.ix.files {
		if _, known := n.away[point{file: f}]; known || middle == "" {
			n.leads(f, middle == "")
		}
	}
	return n.graph(min(cmp.Or(max(q.Most, 0), maxNodes), maxNodes)), nil
}

// point is a file, or the folded name of one that is missing.
type point struct {
	file *file
	name string
}

// net is a graph that is being gathered.
type net struct {
	ix    *index
	away  map[point]int // how many links from the middle
	links map[[2]point]bool
	in    map[point]int
	said  map[string]string // what links call a file that is missing, by its folded name
}

// to is where a link of a note leads.
func (n *net) to(f *file, l *indexedLink) point {
	if to := n.ix.resolve(f.path, &l.Link); to != nil {
		return point{file: to}
	}
	if n.said == nil {
		n.said = map[string]string{}
	}
	name := fold(stem(l.Target))
	if n.said[name] == "" || l.Target < n.said[name] {
		n.said[name] = l.Target
	}
	return point{name: name}
}

// around finds what is at most depth links away from a file.
func (n *net) around(middle *file, depth int) {
	n.away[point{file: middle}] = 0
	ring := []point{{file: middle}}
	for far := 1; far <= depth; far++ {
		var further []point
		meet := func(p point) {
			if _, known := n.away[p]; !known {
				n.away[p] = far
				further = append(further, p)
			}
		}
		for _, p := range ring {
			if p.file == nil {
				continue
			}
			for i := range p.file.links {
				if to := n.to(p.file, &p.file.links[i]); to != (point{}) {
					meet(to)
				}
			}
			for _, f := range n.ix.incoming[p.file.key] {
				for i := range f.links {
					if l := &f.links[i]; l.key == p.file.key && n.to(f, l).file == p.file {
						meet(point{file: f})
					}
				}
			}
		}
		ring = further
	}
}

// leads notes the links of a file; all of them, or those to what is known.
func (n *net) leads(f *file, all bool) {
	from := point{file: f}
	for i := range f.links {
		to := n.to(f, &f.links[i])
		if to == from || to == (point{}) {
			continue
		}
		if _, known := n.away[to]; !known && !all {
			continue
		} else if !known {
			n.away[to] = 0
		}
		if pair := [2]point{from, to}; !n.links[pair] {
			n.links[pair] = true
			n.in[to]++
		}
	}
}

// graph puts what was gathered in order.
func (n *net) graph(most int) Graph {
	node := func(p point) Node {
		if p.file == nil {
			return Node{Path: n.said[p.name], Title: n.said[p.name], Links: n.in[p], Missing: true}
		}
		return Node{Path: p.file.path, Title: cmpOr(p.file.title, p.file.path), Tags: p.file.tags, Links: n.in[p]}
	}
	points := make([]point, 0, len(n.away))
	for p := range n.away {
		points = append(points, p)
	}
	var g Graph
	if len(points) > most {
		g.Left = len(points) - most
		degree := map[point]int{}
		for pair := range n.links {
			degree[pair[0]]++
			degree[pair[1]]++
		}
		slices.SortFunc(points, func(a, b point) int {
			return cmp.Or(cmp.Compare(n.away[a], n.away[b]), cmp.Compare(degree[b], degree[a]), comparePoints(a, b))
		})
		points = points[:most]
	}
	slices.SortFunc(points, comparePoints)
	at := make(map[point]int, len(points))
	g.Nodes, g.Edges = make([]Node, len(points)), make([]Edge, 0, len(n.links))
	for i, p := range points {
		at[p] = i
		g.Nodes[i] = node(p)
	}
	for pair := range n.links {
		from, a := at[pair[0]]
		to, b := at[pair[1]]
		if a && b {
			g.Edges = append(g.Edges, Edge{from, to})
		}
	}
	slices.SortFunc(g.Edges, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return g
}

func comparePoints(a, b point) int {
	switch {
	case a.file == nil && b.file == nil:
		return strings.Compare(a.name, b.name)
	case a.file == nil:
		return 1
	case b.file == nil:
		return -1
	}
	return strings.Compare(a.file.path, b.file.path)
}

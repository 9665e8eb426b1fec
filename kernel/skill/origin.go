package skill

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Origin is where an installed skill came from, so that it can be updated.
type Origin struct {
	From   string    `json:"from"`             // the address or the path, as the person gave it
	Commit string    `json:"commit,omitempty"` // of a git repository: the one that is installed
	At     time.Time `json:"at"`               // UTC
	Pinned bool      `json:"pinned,omitempty"` // it is not updated with the others
}

// The kinds of places that a skill is fetched from.
const (
	fromDisk    = "disk"    // a folder, or an archive
	fromGit     = "git"     // a repository, by smart HTTP
	fromArchive = "archive" // an archive at an address
	fromSite    = "site"    // the index of a site, /.well-known/agent-skills/index.json

	fromRegistry = "registry" // the page of a skill in a registry that the person added
)

// place is an address, read.
type place struct {
	kind   string
	path   string // of the disk
	url    *url.URL
	folder string // in the repository, or the name of the skill in an index; "" where there is one alone
	ref    string // branch, tag or commit; "" is the branch that the repository points at
}

// hosts are sites whose addresses are those of repositories.
var hosts = []string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht"}

// placeOf reads what the person gave: a path, or an address of a repository, an archive or a site. #FOLDER or #NAME at its end
// says which of several skills is meant, and @REF behind that which branch, tag or commit.
func placeOf(from string) (place, error) {
	if scheme, _, ok := strings.Cut(from, "://"); !ok || filepath.IsAbs(from) {
		if strings.HasPrefix(from, "git@") || strings.HasPrefix(from, "ssh:") {
			return place{}, notHTTPS(from)
		}
		return place{kind: fromDisk, path: from}, nil
	} else if scheme != "https" && scheme != "http" {
		return place{}, notHTTPS(from)
	}
	u, err := url.Parse(from)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return place{}, sys.Errorf(sys.CodeInvalid, "%q is not an address that skills are installed from. Nothing was installed.", sys.Shorten(from, 200)).
			WithHint("Give the address of a git repository, of an archive or of a site, without a question mark and without a password.")
	}
	// Without https what comes could be exchanged on the way. Whether the own network is asked is for the guard to say.
	if at, err := security.ReadAddress(u.Scheme + "://" + u.Host + "/"); u.Scheme != "https" && (err != nil || !at.Own) {
		return place{}, notHTTPS(from)
	}
	p := place{url: u}
	p.folder, p.ref, _ = strings.Cut(u.Fragment, "@")
	u.Fragment, u.RawFragment = "", ""
	p.folder = strings.Trim(p.folder, "/")
	u.Path = "/" + strings.Trim(u.Path, "/")
	switch {
	case slices.ContainsFunc([]string{".zip", ".tar", ".tar.gz", ".tgz"}, func(end string) bool { return strings.HasSuffix(strings.ToLower(u.Path), end) }):
		p.kind = fromArchive
	case u.Path == "/" || strings.HasSuffix(u.Path, "/index.json"):
		p.kind = fromSite
	default:
		p.kind = fromGit
		if slices.Contains(hosts, strings.TrimPrefix(u.Hostname(), "www.")) {
			p.ofPage()
		}
	}
	if p.folder != "" && p.kind != fromSite && checkEntry(p.folder).EN != "" {
		return place{}, sys.Errorf(sys.CodeInvalid, "%q cannot be a folder in a repository. Nothing was installed.", sys.Shorten(p.folder, 200))
	}
	return p, nil
}

// ofPage reads the address of a page that shows a folder of a repository: /OWNER/NAME/tree/REF/FOLDER. A branch whose name has a
// slash cannot be told from a folder there: #FOLDER@REF can.
func (p *place) ofPage() {
	parts := strings.Split(strings.Trim(p.url.Path, "/"), "/")
	at := slices.IndexFunc(parts, func(s string) bool { return s == "tree" || s == "blob" })
	if at < 2 || at+1 >= len(parts) {
		return
	}
	end := at
	if parts[end-1] == "-" {
		end--
	}
	p.url.Path = "/" + path.Join(parts[:end]...)
	if p.ref == "" {
		p.ref = parts[at+1]
	}
	if p.folder == "" {
		p.folder = strings.TrimSuffix(strings.TrimSuffix(path.Join(parts[at+2:]...), "SKILL.md"), "/")
	}
}

func notHTTPS(from string) error {
	return sys.Errorf(sys.CodeInvalid, "Skills are installed from addresses that begin with https, not from %q. Nothing was installed.", sys.Shorten(from, 200)).
		WithHint("Use the repository's https address, or clone it yourself and install the folder.")
}

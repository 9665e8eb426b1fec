package security

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// PathVerdict is what policy says about a path, wherever it is used.
type PathVerdict struct {
	Abs       string `json:"abs"`       // the path, absolute and clean
	Inside    bool   `json:"inside"`    // inside the folder, as far as the text shows; [Root] holds the border
	Sensitive bool   `json:"sensitive"` // keys, passwords, browser profiles and the like
	Protected bool   `json:"protected"` // Oxios' own files

	Read     Tier   `json:"read"`
	Write    Tier   `json:"write"` // deleting and renaming count as writing
	Reason   string `json:"reason,omitempty"`
	ReasonKO string `json:"reason_ko,omitempty"`
}

// Classify judges a path by its text: absolute, starting with ~, or relative
// to folder. It looks at the disk only where a path is spelled like the Oxios
// home and yet not the same. What a link points to is found by [Root.Resolve],
// and both belong before Classify. home and oxiosHome may be empty.
func Classify(p, folder, home, oxiosHome string) PathVerdict {
	return classifyPath(pathAbs(p, folder, home), slashClean(folder), home, oxiosHome)
}

// NeverTouched lists what no agent may read or change and nobody can approve,
// as people write it.
func NeverTouched() []string {
	return []string{
		"$OXIOS_HOME (~/.oxios)", "~/.ssh", "~/.gnupg", "~/.aws", "~/.kube", "~/.docker/config.json", "~/.config/gcloud",
		"~/.netrc", "~/.git-credentials", "~/.password-store", "~/.local/share/keyrings", "~/.mozilla",
		"~/.config/google-chrome", "~/.config/chromium", "/etc/shadow", "/proc/*/environ",
		".bashrc, .zshrc, .profile (write)", ".git/hooks, .git/config (write)", ".vscode, .idea, .mcp.json (write)",
	}
}

func slashClean(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(p))
}

// pathAbs makes p absolute. Without a folder or a home, what depends on them
// lies outside of everything.
func pathAbs(p, folder, home string) string {
	p = filepath.ToSlash(p)
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		if home == "" {
			return path.Clean("/~" + p[1:])
		}
		return path.Clean(filepath.ToSlash(home) + p[1:])
	case path.IsAbs(p) || filepath.IsAbs(p):
		return path.Clean(p)
	case folder == "":
		return path.Clean("/./" + p)
	}
	return path.Join(filepath.ToSlash(folder), p)
}

func classifyPath(abs, folder, home, oxiosHome string) PathVerdict {
	v := PathVerdict{Abs: abs, Inside: Within(abs, folder)}
	low := pathFold(abs)
	if isProtected(abs, folder, slashClean(oxiosHome), v.Inside) {
		v.Protected = true
		return v.with(TierRefuse, TierRefuse, cmdProtected)
	}
	if !v.Inside {
		v = v.with(TierAsk, TierAsk, cmdUsesOutside)
		if isSystemPath(low) {
			v = v.with(TierAsk, TierRefuse, cmdSystemFiles)
		}
	}
	if level := pathSecrecy(low, pathFold(slashClean(home))); level > TierFree {
		v.Sensitive = true
		why := cmdReadsPrivate
		if level == TierRefuse {
			why = cmdReadsSecret
		}
		v = v.with(level, level, why)
	}
	switch pathRunsLater(low) {
	case TierRefuse:
		v = v.with(TierFree, TierRefuse, cmdPersists)
	case TierAsk:
		v = v.with(TierFree, TierAsk, cmdPersists)
	}
	return v
}

// ReadReason is why reading is judged as it is; Reason is that of the more
// severe of reading and writing. Both are empty where reading is free.
func (v PathVerdict) ReadReason() (en, ko string) {
	switch {
	case v.Read == TierFree:
		return "", ""
	case v.Read >= v.Write:
		return v.Reason, v.ReasonKO
	case v.Sensitive:
		return cmdReadsPrivate.en, cmdReadsPrivate.ko
	}
	return cmdUsesOutside.en, cmdUsesOutside.ko
}

// with makes the verdict at least as severe as read and write.
func (v PathVerdict) with(read, write Tier, why cmdReason) PathVerdict {
	if most := max(v.Read, v.Write); max(read, write) > most || max(read, write) == most && read > v.Read || v.Reason == "" {
		v.Reason, v.ReasonKO = why.en, why.ko
	}
	v.Read, v.Write = max(v.Read, read), max(v.Write, write)
	return v
}

// pathFold writes a path the way the most forgiving file system compares it:
// composed, in lower case, without invisible characters, trailing dots,
// trailing spaces and streams. It only ever makes policy more careful.
func pathFold(p string) string {
	plain := true
	for i := 0; i < len(p); i++ {
		if p[i] >= 0x80 {
			plain = false
		}
	}
	if !plain {
		p = norm.NFKC.String(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
				return -1
			}
			return r
		}, p))
	}
	parts := strings.Split(strings.ToLower(p), "/")
	for i, part := range parts {
		if part == "." || part == ".." {
			continue
		}
		if name, stream, ok := strings.Cut(part, ":"); ok && strings.HasPrefix(strings.TrimLeft(stream, ":"), "$") {
			part = name
		}
		if trimmed := strings.TrimRight(part, ". "); trimmed != "" {
			part = trimmed
		}
		if part == "git~1" {
			part = ".git"
		}
		parts[i] = part
	}
	return strings.Join(parts, "/")
}

// hasPart reports whether the names in name follow each other somewhere in p,
// after a slash.
func hasPart(p, name string) bool {
	for at := 0; ; at++ {
		i := strings.Index(p[at:], name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		if at > 0 && p[at-1] == '/' && (end == len(p) || p[end] == '/') {
			return true
		}
	}
}

// matchesGlob reports whether a pattern of the shell could mean the path. A
// component is compared with path.Match.
func matchesGlob(pattern, p string) bool {
	ok, err := path.Match(pattern, p)
	return ok && err == nil
}

var systemRoots = []string{
	"/etc", "/boot", "/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/proc", "/sys", "/dev", "/var/log", "/var/lib",
	"/var/spool", "/run", "/var/run", "/efi", "/system", "/library", "/private/etc", "/private/var/log", "/root",
}

func isSystemPath(p string) bool {
	if Within(p, "/usr/local") || Within(p, "/dev/shm") {
		return false
	}
	for _, root := range systemRoots {
		if Within(p, root) {
			return true
		}
	}
	return p == "/"
}

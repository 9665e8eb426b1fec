package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// unit is what makes one installed service differ from another.
type unit struct {
	program string // absolute
	home    string // "" for the usual one
}

// unitHere is the unit that starts this program on this home.
func (c *console) unitHere() (unit, error) {
	self, err := os.Executable()
	if err != nil {
		return unit{}, err
	}
	u := unit{program: kernel.InstalledAs(self)}
	if c.getenv("OXIOS_HOME") != "" {
		u.home = c.home
	}
	if strings.ContainsFunc(u.program+u.home, unicode.IsControl) || strings.ContainsAny(u.program, `"'\`) {
		return u, c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("systemd starts no program whose path has quotes, backslashes or line breaks: %s.", "경로에 따옴표, 역슬래시, 줄바꿈이 있는 프로그램은 systemd가 시작하지 않습니다: %s."), u.program),
			c.t("Move Oxios into another folder, and install from there.", "Oxios를 다른 폴더로 옮긴 뒤 거기에서 설치하세요."))
	}
	return u, nil
}

func (u unit) homeOr(usual string) string {
	if u.home != "" {
		return u.home
	}
	return usual
}

// startable reports whether the program is there.
func (u unit) startable() bool {
	info, err := os.Stat(u.program)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// The lines of the unit that [parseUnit] reads back.
const (
	lineProgram = "ConditionFileIsExecutable="
	lineHome    = `Environment="OXIOS_HOME=`
)

// text is the unit file.
//
// Its limits are those that every contained command has anyway, so that an
// agent works here as it does behind a window. More would break it: without
// privileges systemd hides or protects folders by a user namespace, in which
// the system's files belong to nobody, and ssh and git then refuse their own
// configuration; and isolation by namespaces needs RestrictNamespaces and
// SystemCallFilter to stay open.
//
// Delegate lets Oxios give each command a cgroup of its own, with its limits.
//
// The address that serve prints lets a browser in, so it is kept out of the
// journal, which others may read.
func (u unit) text() string {
	environment := ""
	if u.home != "" {
		environment = lineHome + unitEscape(u.home) + "\"\n"
	}
	return fmt.Sprintf(`# Written by "oxios service install", which writes it anew.
# Changes of your own belong into "systemctl --user edit oxios".
[Unit]
Description=Oxios, agents without a window
%s%s
StartLimitIntervalSec=5min
StartLimitBurst=5

[Service]
Type=exec
ExecStart=:"%s" serve --wait
%sStandardOutput=null
Restart=on-failure
RestartSec=5
TimeoutStopSec=30
KillMode=mixed
OOMPolicy=continue
Delegate=memory pids
LimitCORE=0
NoNewPrivileges=yes
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

[Install]
WantedBy=default.target
`, lineProgram, strings.ReplaceAll(u.program, `%`, `%%`), unitEscape(u.program), environment)
}

// unitEscape makes s the inside of a quoted word, in which % begins a specifier.
func unitEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(s)
}

func unitUnescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `%%`, `%`).Replace(s)
}

// parseUnit reads what [unit.text] wrote.
func parseUnit(text string) (unit, error) {
	var u unit
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if rest, ok := strings.CutPrefix(line, lineProgram); ok {
			u.program = strings.ReplaceAll(rest, `%%`, `%`)
		}
		if rest, ok := strings.CutPrefix(line, lineHome); ok {
			u.home = unitUnescape(strings.TrimSuffix(rest, `"`))
		}
	}
	if !filepath.IsAbs(u.program) {
		return u, fmt.Errorf("the unit does not say which program it starts")
	}
	return u, nil
}

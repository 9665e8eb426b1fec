package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"oxios/kernel/sys"
)

const unitName = "oxios.service"

// userManager is the person's own systemd.
type userManager struct {
	systemctl string
	path      string // of the unit file
}

// userManager finds the person's systemd, or says what to do without one.
func (c *console) userManager(ctx context.Context) (userManager, error) {
	instead := c.t("Instead, `oxios autostart on` starts the window with your session, and `oxios serve` in tmux or screen runs without one.",
		"대신 `oxios autostart on`으로 로그인할 때 창을 시작하거나, tmux나 screen에서 `oxios serve`를 실행하세요.")
	path, err := exec.LookPath("systemctl")
	if err != nil || runtime.GOOS != "linux" {
		return userManager{}, c.fail(sys.CodeUnavailable, c.t("There is no systemd here, so Oxios cannot be its service.", "systemd가 없어 서비스로 실행할 수 없습니다."), instead)
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return userManager{}, c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("The folder of unit files is not known: %v.", "유닛 파일 폴더를 알 수 없습니다: %v."), err), instead)
	}
	m := userManager{systemctl: path, path: filepath.Join(config, "systemd", "user", unitName)}
	if _, err := m.do(ctx, "show-environment"); err != nil {
		hint := instead
		if c.getenv("XDG_RUNTIME_DIR") == "" {
			hint = c.t("su and sudo give you no session: log in as this user, by ssh for example. ", "su와 sudo는 세션을 만들지 않습니다. ssh 등으로 이 사용자로 로그인하세요. ") + instead
		}
		return userManager{}, c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("No systemd of yours answers here: %v.", "사용자 systemd가 응답하지 않습니다: %v."), err), hint)
	}
	return m, nil
}

// do runs systemctl for the person's own systemd. Its error is the first thing
// that systemctl said; what follows only names other commands.
func (m userManager) do(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, m.systemctl, append([]string{"--user", "--no-pager", "--no-ask-password"}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "SYSTEMD_COLORS=0")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		if first = strings.TrimRight(first, "."); first != "" {
			return "", errors.New(first)
		}
		return "", fmt.Errorf("systemctl %s: %w", strings.Join(args, " "), err)
	}
	return out.String(), nil
}

// write puts the unit in its place and has systemd read it.
func (m userManager) write(ctx context.Context, u unit) error {
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(m.path, []byte(u.text()), 0o600); err != nil {
		return err
	}
	_, err := m.do(ctx, "daemon-reload")
	return err
}

// read returns what the installed unit starts; [fs.ErrNotExist] when none is.
func (m userManager) read() (unit, error) {
	raw, err := os.ReadFile(m.path)
	if err != nil {
		return unit{}, err
	}
	return parseUnit(string(raw))
}

// unitState is the unit as systemd sees it.
type unitState struct {
	active  string // active, activating, inactive, failed, ...
	result  string // why it ended: success, exit-code, start-limit-hit, ...
	enabled bool
	pid     int // 0 when it does not run
}

func (m userManager) state(ctx context.Context) (unitState, error) {
	out, err := m.do(ctx, "show", unitName, "--property=ActiveState,Result,UnitFileState,MainPID")
	if err != nil {
		return unitState{}, err
	}
	var s unitState
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		switch key {
		case "ActiveState":
			s.active = value
		case "Result":
			s.result = value
		case "UnitFileState":
			s.enabled = value == "enabled"
		case "MainPID":
			s.pid, _ = strconv.Atoi(value) // systemd writes a number
		}
	}
	return s, nil
}

// lingers reports whether the person's systemd runs without a login.
func lingers() bool {
	u, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", u.Username))
	return err == nil
}

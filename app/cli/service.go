package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// The service is a unit of the person's own systemd: it runs `oxios serve`
// from login on, or from the start of the machine where lingering is on.

func (c *console) serviceCommand() *cobra.Command {
	g := c.group("service", "Run Oxios in the background, without a window", "창 없이 백그라운드에서 실행합니다",
		c.serviceChild("install", "Have it start when you log in", "로그인할 때 시작하게 합니다", c.installService),
		c.serviceChild("start", "Start it now", "지금 시작합니다", c.startService),
		c.serviceChild("stop", "Stop it until the next login", "다음 로그인까지 멈춥니다", c.stopService),
		c.withJSON(c.serviceChild("status", "Show how it stands", "상태를 봅니다", c.serviceStatus)),
		c.serviceChild("uninstall", "Stop it and remove it; your data stays", "멈추고 제거합니다. 데이터는 남습니다", c.uninstallService),
	)
	g.Long = c.t("Runs `oxios serve` as a service of your own systemd. Windows, commands and approvals reach it like any other Oxios;\n`oxios address` prints an address of its page.",
		"`oxios serve`를 사용자 systemd 서비스로 실행합니다. 창과 명령, 승인은 평소처럼 여기에 연결됩니다.\n페이지 주소는 `oxios address`로 받습니다.")
	return g
}

func (c *console) serviceChild(use, en, ko string, do func(context.Context, userManager) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: c.t(en, ko), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := c.userManager(cmd.Context())
			if err != nil {
				return err
			}
			return do(cmd.Context(), m)
		},
	}
}

func (c *console) installService(ctx context.Context, m userManager) error {
	u, err := c.unitHere()
	if err != nil {
		return err
	}
	if err := m.write(ctx, u); err != nil {
		return c.serviceFailed(err)
	}
	if _, err := m.do(ctx, "enable", unitName); err != nil {
		return c.serviceFailed(err)
	}
	c.printf(c.t("Installed: %s. Oxios starts when you log in.", "설치했습니다: %s. 로그인하면 Oxios가 시작합니다."), m.path)
	c.note("%s", c.t("`oxios service start` starts it now.", "지금 시작하려면 `oxios service start`를 실행하세요."))
	if !lingers() {
		c.note("%s", c.t("It ends when you log out; `loginctl enable-linger` lets it run from the start of the machine on.",
			"로그아웃하면 끝납니다. 컴퓨터를 켤 때부터 계속 실행하려면 `loginctl enable-linger`를 실행하세요."))
	}
	return nil
}

// startService starts the unit and waits until Oxios answers. A unit whose
// program has moved is written anew, with this one.
func (c *console) startService(ctx context.Context, m userManager) error {
	u, err := c.installedUnit(m)
	if err != nil {
		return err
	}
	if !u.startable() {
		here, err := c.unitHere()
		if err != nil {
			return err
		}
		c.note(c.t("%s is not there any more; the service starts %s from now on.", "%s이(가) 더 이상 없어, 이제부터 %s을(를) 시작합니다."), safe(u.program), safe(here.program))
		u.program = here.program
		if err := m.write(ctx, u); err != nil {
			return c.serviceFailed(err)
		}
	}
	if _, err := m.do(ctx, "start", unitName); err != nil {
		return c.serviceFailed(err)
	}
	return c.awaitService(ctx, m, u)
}

// startPatience is how long a started service may take until it answers.
const startPatience = 15 * time.Second

func (c *console) awaitService(ctx context.Context, m userManager, u unit) error {
	for end := time.Now().Add(startPatience); ; {
		s, err := m.state(ctx)
		if err != nil {
			return c.serviceFailed(err)
		}
		owner, _ := ownerOf(ctx, u.homeOr(c.home)) // nobody yet
		switch {
		case s.active != "active" && s.active != "activating":
			return c.fail(sys.CodeUnavailable, c.t("The service ended at once.", "서비스가 바로 끝났습니다."), c.journalHint())
		case owner.PID != 0 && owner.PID == s.pid:
			c.printf(c.t("Oxios runs as a service (process %d).", "Oxios가 서비스로 실행 중입니다 (프로세스 %d)."), s.pid)
			return nil
		case owner.PID != 0 && s.pid != 0:
			c.printf(c.t("The service waits: Oxios already runs (%s, process %d). It takes over when that one ends.", "서비스가 기다립니다. Oxios가 이미 실행 중이며(%s, 프로세스 %d), 끝나면 이어받습니다."), owner.Owner, owner.PID)
			return nil
		case time.Now().After(end):
			return c.fail(sys.CodeTimeout, c.t("The service was started, but Oxios does not answer.", "서비스를 시작했지만 Oxios가 응답하지 않습니다."), c.journalHint())
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *console) stopService(ctx context.Context, m userManager) error {
	if _, err := c.installedUnit(m); err != nil {
		return err
	}
	if _, err := m.do(ctx, "stop", unitName); err != nil {
		return c.serviceFailed(err)
	}
	c.printf("%s", c.t("Stopped. Runs that wait for you go on when Oxios runs again.", "멈췄습니다. 기다리던 작업은 Oxios가 다시 실행되면 이어집니다."))
	return nil
}

func (c *console) uninstallService(ctx context.Context, m userManager) error {
	u, err := c.installedUnit(m)
	if err != nil {
		return err
	}
	if _, err := m.do(ctx, "disable", "--now", unitName); err != nil {
		return c.serviceFailed(err)
	}
	if err := os.Remove(m.path); err != nil {
		return c.serviceFailed(err)
	}
	if _, err := m.do(ctx, "daemon-reload"); err != nil {
		return c.serviceFailed(err)
	}
	c.printf(c.t("Removed. Your data stays in %s.", "제거했습니다. 데이터는 %s에 남아 있습니다."), safe(u.homeOr(c.home)))
	return nil
}

// installedUnit is the unit that is installed, or the way to have one.
func (c *console) installedUnit(m userManager) (unit, error) {
	u, err := m.read()
	if errors.Is(err, fs.ErrNotExist) {
		return u, c.fail(sys.CodeNotFound, c.t("The service is not installed.", "서비스가 설치되어 있지 않습니다."), c.t("`oxios service install` installs it.", "`oxios service install`로 설치하세요."))
	}
	if err != nil {
		return u, c.serviceFailed(err)
	}
	return u, nil
}

// serviceView is what status tells.
type serviceView struct {
	Installed bool   `json:"installed"`
	Enabled   bool   `json:"enabled"` // starts at login
	Linger    bool   `json:"linger"`  // starts with the machine, and stays after logout
	State     string `json:"state"`   // systemd's word: active, activating, inactive, failed, ...
	Result    string `json:"result,omitempty"`
	PID       int    `json:"pid,omitempty"`
	Owner     string `json:"owner,omitempty"` // which face has the home now
	Unit      string `json:"unit"`
	Program   string `json:"program,omitempty"`
	Home      string `json:"home"`
	Problem   string `json:"problem,omitempty"`
	Hint      string `json:"hint,omitempty"`
}

func (c *console) serviceStatus(ctx context.Context, m userManager) error {
	v := serviceView{Unit: m.path, Home: c.home, Linger: lingers()}
	u, err := m.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return c.serviceFailed(err)
	default:
		v.Installed, v.Program, v.Home = true, u.program, u.homeOr(c.home)
	}
	s, err := m.state(ctx)
	if err != nil {
		return c.serviceFailed(err)
	}
	v.Enabled, v.State, v.PID = s.enabled, s.active, s.pid
	if s.active == "failed" {
		v.Result = s.result
	}
	if owner, err := ownerOf(ctx, v.Home); err == nil {
		v.Owner = owner.Owner
	}
	switch {
	case !v.Installed:
		v.Hint = c.t("`oxios service install` installs it.", "`oxios service install`로 설치하세요.")
	case !u.startable():
		v.Problem = fmt.Sprintf(c.t("The service cannot start: %s is not there any more.", "서비스를 시작할 수 없습니다. %s이(가) 더 이상 없습니다."), u.program)
		v.Hint = c.t("`oxios service start` mends it.", "`oxios service start`가 바로잡습니다.")
	case s.active == "failed":
		v.Problem, v.Hint = fmt.Sprintf(c.t("The service failed (%s).", "서비스가 실패했습니다 (%s)."), s.result), c.journalHint()
	}
	if c.json {
		return c.writeJSON(v)
	}
	return c.showService(v)
}

func (c *console) showService(v serviceView) error {
	yes := func(b bool) string {
		if b {
			return c.t("yes", "예")
		}
		return c.t("no", "아니요")
	}
	state := v.State
	if v.PID != 0 {
		state += fmt.Sprintf(c.t(", process %d", ", 프로세스 %d"), v.PID)
	}
	if v.PID != 0 && v.Owner != "" && v.Owner != kernel.OwnerServe {
		state += fmt.Sprintf(c.t(", waits for the %s that runs", ", 실행 중인 %s이(가) 끝나기를 기다림"), v.Owner)
	}
	err := table(c.out, [][]string{
		{c.t("installed", "설치됨"), yes(v.Installed)},
		{c.t("state", "상태"), state},
		{c.t("starts at login", "로그인할 때 시작"), yes(v.Enabled)},
		{c.t("stays after logout", "로그아웃 후에도 실행"), yes(v.Linger)},
		{c.t("program", "프로그램"), v.Program},
		{c.t("unit", "유닛 파일"), v.Unit},
		{c.t("home", "데이터 폴더"), v.Home},
	})
	for _, line := range []string{v.Problem, v.Hint} {
		if line != "" {
			c.note("%s", safe(line))
		}
	}
	return err
}

// ownerOf asks the process that has the home who it is.
func ownerOf(ctx context.Context, home string) (kernel.Status, error) {
	client, err := remote.Dial(ctx, home)
	if err != nil {
		return kernel.Status{}, err
	}
	defer client.Close() //nolint:errcheck // nothing was changed over it
	return client.Handle().Infra.Status(ctx)
}

func (c *console) serviceFailed(err error) error {
	return c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("The service could not be changed or read: %v.", "서비스를 바꾸거나 읽지 못했습니다: %v."), err), c.journalHint())
}

func (c *console) journalHint() string {
	return c.t("`journalctl --user -u oxios` shows what it said.", "`journalctl --user -u oxios`에서 기록을 볼 수 있습니다.")
}

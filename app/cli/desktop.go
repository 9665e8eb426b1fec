package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"oxios/kernel/sys"
)

// linkPattern is the one form of link that is taken: anything else could be
// text that a web page chose.
var linkPattern = sys.Pattern(`^oxios://session/[0-9a-fA-F-]{8,64}$`)

// isLink reports whether arg is meant as a link.
func isLink(arg string) bool { return len(arg) > 8 && arg[:8] == "oxios://" }

// openDesktop starts the window, with a link to open if there is one.
func (c *console) openDesktop(args []string) error {
	if len(args) > 1 {
		return usage(c.fail(sys.CodeInvalid, c.t("One link at a time.", "링크는 하나씩 여세요."), ""))
	}
	if len(args) == 1 && !linkPattern().MatchString(args[0]) {
		return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q is not a link of Oxios.", "%q은(는) Oxios 링크가 아닙니다."), args[0]),
			c.t("A link looks like oxios://session/ID.", "링크는 oxios://session/ID 형태입니다.")))
	}
	return c.startDesktop(args...)
}

func (c *console) quickCommand() *cobra.Command {
	return &cobra.Command{
		Use: "quick", Short: c.t("Show the quick prompt, one field that answers in place", "한 줄로 묻고 그 자리에서 답을 보는 빠른 질문 창을 엽니다"), Args: c.args(0, 0),
		RunE: func(*cobra.Command, []string) error { return c.startDesktop("quick") },
	}
}

// startDesktop starts the window's program and does not wait for it.
func (c *console) startDesktop(args ...string) error {
	hint := c.t("`oxios serve` shows Oxios in a browser; `oxios --help` lists the commands.", "`oxios serve`로 브라우저에서 쓸 수 있습니다. 명령은 `oxios --help`를 보세요.")
	if !c.display() {
		return c.fail(sys.CodeUnavailable, c.t("There is no display here, so the window cannot open.", "화면이 없어 창을 열 수 없습니다."), hint)
	}
	path, ok := desktopProgram()
	if !ok {
		return c.fail(sys.CodeUnavailable, c.t("The window's program, oxios-desktop, was not found beside oxios or in the PATH.", "창 프로그램 oxios-desktop을 oxios 옆이나 PATH에서 찾지 못했습니다."), hint)
	}
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("The window could not be started: %v.", "창을 시작하지 못했습니다: %v."), err), hint)
	}
	return cmd.Process.Release()
}

func (c *console) display() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	return c.getenv("DISPLAY") != "" || c.getenv("WAYLAND_DISPLAY") != ""
}

// desktopProgram finds the window's program: the one beside this, else in the
// PATH.
func desktopProgram() (string, bool) {
	name := "oxios-desktop"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, true
		}
	}
	path, err := exec.LookPath(name)
	return path, err == nil
}

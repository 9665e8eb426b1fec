package cli

import (
	"fmt"

	"oxios/kernel"
)

// serverOrigin says behind a server's state that config.toml does not name it.
func (c *console) serverOrigin(v kernel.MCPView) string {
	if v.Origin == "" {
		return ""
	}
	return c.t(", from the environment", ", 환경 변수에서")
}

// originLines say where a server comes from that config.toml does not name.
func (c *console) originLines(v kernel.MCPView) (lines []string) {
	if v.Origin == "" {
		return nil
	}
	lines = append(lines, fmt.Sprintf(c.t("the environment, variable %s", "환경 변수 %s"), v.Variable))
	if v.Shadows {
		lines = append(lines, fmt.Sprintf(c.t("config.toml has a server %s too, which is not used", "config.toml에도 %s 서버가 있지만 쓰지 않습니다"), v.Name))
	}
	if v.Problem.EN != "" {
		lines = append(lines, v.Problem.In(c.lang == korean))
	}
	return lines
}

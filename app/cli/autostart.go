package cli

import (
	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) autostartCommand() *cobra.Command {
	return c.group("autostart", "Start the window with the system, in the tray", "시스템과 함께 창을 트레이에서 시작합니다",
		c.setAutostart("on", true, "Start with your session", "로그인할 때 시작합니다"),
		c.setAutostart("off", false, "Do not start with your session", "로그인할 때 시작하지 않습니다"),
		c.autostartStatus(),
	)
}

func (c *console) setAutostart(word string, on bool, en, ko string) *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: word, Short: c.t(en, ko), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := l.Infra.SetAutostart(cmd.Context(), on)
			if err != nil {
				return err
			}
			return c.showAutostart(v)
		},
	})
}

func (c *console) autostartStatus() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "status", Short: c.t("Show whether Oxios starts with your session", "로그인할 때 시작하는지 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := l.Infra.Autostart(cmd.Context())
			if err != nil {
				return err
			}
			return c.showAutostart(v)
		},
	})
}

func (c *console) showAutostart(v kernel.Autostart) error {
	if c.json {
		return c.writeJSON(v)
	}
	if v.On {
		c.printf(c.t("On: %s starts hidden in the tray when your session begins (%s).", "켜짐: 로그인하면 %s이(가) 트레이에 숨은 채 시작합니다 (%s)."), safe(v.Program), safe(v.Entry))
	} else {
		c.printf("%s", c.t("Off: Oxios does not start by itself.", "꺼짐: Oxios가 스스로 시작하지 않습니다."))
	}
	if v.Problem != nil {
		c.explain(v.Problem)
	}
	return nil
}

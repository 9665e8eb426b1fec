package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) configCommand() *cobra.Command {
	return c.group("config", "Settings", "설정", c.configGet(), c.configSet(), c.configPath())
}

func (c *console) configGet() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "get [KEY]", Short: c.t("Show all settings, or one", "모든 설정이나 하나를 봅니다"), Args: c.args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := l.Infra.Config(cmd.Context())
			if err != nil {
				return err
			}
			if v.Problem != nil {
				c.explain(v.Problem)
			}
			if len(args) == 1 {
				value, ok := v.Values[args[0]]
				if !ok {
					return c.fail(sys.CodeNotFound, fmt.Sprintf(c.t("There is no setting %q.", "%q 설정은 없습니다."), args[0]),
						c.t("`oxios config get` lists them.", "`oxios config get`으로 목록을 보세요."))
				}
				if c.json {
					return c.writeJSON(map[string]string{args[0]: value})
				}
				c.printf("%s", safe(value))
				return nil
			}
			if c.json {
				return c.writeJSON(v)
			}
			return list(c, v.Schema, "", []string{c.t("SETTING", "설정"), c.t("VALUE", "값"), c.t("WHAT IT IS", "설명")}, func(k kernel.ConfigKey) []string {
				return []string{k.Key, v.Values[k.Key], k.Doc}
			})
		},
	})
}

func (c *console) configSet() *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: c.t("Change a setting", "설정을 바꿉니다"), Args: c.args(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := l.Infra.SetConfig(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			c.printf("%s = %s", args[0], safe(v.Values[args[0]]))
			return nil
		},
	}
}

func (c *console) configPath() *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: c.t("Show where config.toml lies", "config.toml의 위치를 봅니다"), Args: c.args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			c.printf("%s", filepath.Join(c.home, "config.toml"))
			return nil
		},
	}
}

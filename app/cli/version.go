package cli

import (
	"runtime"

	"github.com/spf13/cobra"
)

func (c *console) versionCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "version", Short: c.t("Show the version", "버전을 봅니다"), Args: c.args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if c.json {
				return c.writeJSON(map[string]string{"version": c.deps.Version, "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH})
			}
			c.printf("oxios %s (%s, %s/%s)", c.deps.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	})
}

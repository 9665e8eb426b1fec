package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"oxios/app/remote"
	"oxios/kernel/sys"
)

func (c *console) addressCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "address", Short: c.t("Print an address that lets one more browser in", "브라우저 하나를 더 들여보내는 주소를 출력합니다"), Args: c.args(0, 0),
		Long: c.t("Asks the `oxios serve` that runs for a fresh address of its page. It lets one browser of this machine in, once,\nwithin ten minutes. Browsers that are in already stay in.",
			"실행 중인 `oxios serve`에게 페이지의 새 주소를 받습니다. 그 주소는 10분 안에 이 컴퓨터의 브라우저 하나를 한 번\n들여보냅니다. 이미 들어온 브라우저는 그대로입니다."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := remote.Dial(cmd.Context(), c.home)
			if sys.CodeOf(err) == sys.CodeUnavailable {
				return c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("No Oxios is running for %s, so that there is no page to open.", "%s에서 실행 중인 Oxios가 없어 열 페이지가 없습니다."), c.home),
					c.t("`oxios serve` starts one and prints its address.", "`oxios serve`로 시작하면 주소가 나옵니다."))
			}
			if err != nil {
				return err
			}
			defer client.Close() //nolint:errcheck // nothing was changed over it
			url, err := client.Handle().Infra.PageAddress(cmd.Context())
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(map[string]string{"url": url})
			}
			c.printf("%s", url)
			return nil
		},
	})
}

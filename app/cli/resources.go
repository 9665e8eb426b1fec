package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) resourcesCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "resources", Short: c.t("Show how loaded the machine is, and was in the past hour", "컴퓨터의 현재 부하와 지난 한 시간의 부하를 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := l.Infra.Resources(cmd.Context())
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			return c.showResources(v)
		},
	})
}

func (c *console) showResources(v kernel.ResourceView) error {
	var cpu float64
	least := v.Now.MemoryAvailable
	for _, s := range v.History {
		cpu, least = max(cpu, s.CPU), min(least, s.MemoryAvailable)
	}
	size := func(n uint64) string { return sizeText(int64(n)) } //nolint:gosec // no machine has so much
	queued := ""
	if v.Queued > 0 {
		queued = fmt.Sprintf(c.t("%d wait for a place", "%d개가 빈자리 대기"), v.Queued)
	}
	err := table(c.out, [][]string{
		{"", c.t("NOW", "지금"), c.t("PAST HOUR", "지난 한 시간")},
		{c.t("processors", "프로세서"), fmt.Sprintf("%.0f %%", v.Now.CPU), fmt.Sprintf(c.t("up to %.0f %%", "최대 %.0f %%"), cpu)},
		{c.t("memory free", "메모리 여유"), fmt.Sprintf(c.t("%s of %s", "%[2]s 중 %[1]s"), size(v.Now.MemoryAvailable), size(v.Now.MemoryTotal)), fmt.Sprintf(c.t("down to %s", "최소 %s"), size(least))},
		{c.t("disk free", "디스크 여유"), fmt.Sprintf(c.t("%s of %s", "%[2]s 중 %[1]s"), size(v.Now.DiskFree), size(v.Now.DiskTotal)), ""},
		{c.t("agents at work", "일하는 에이전트"), fmt.Sprintf(c.t("%d of %d at once", "동시 %[2]d개 중 %[1]d개"), v.Running, v.AtOnce), queued},
	})
	if err == nil && v.Overloaded {
		c.note("%s", c.t("The machine is busy: agents of low priority wait.", "컴퓨터가 바쁩니다. 우선순위가 낮은 에이전트는 기다립니다."))
	}
	return err
}

package cli

import (
	"context"
	"net"

	"github.com/spf13/cobra"

	"oxios/kernel/demo"
	"oxios/kernel/sys"
)

func (c *console) demoCommand() *cobra.Command {
	var addr, script string
	cmd := &cobra.Command{
		Use: "demo", Short: c.t("Serve the scripted demo: no model, no network", "대본 데모 서버: 모델도 네트워크도 필요 없음"), Args: c.args(0, 0),
		Long: c.t("Serves a scripted endpoint on this machine that speaks OpenAI's protocol, until Ctrl-C. There is no language\nmodel behind it; the tools that it calls, the approvals and the record are real.",
			"OpenAI 프로토콜을 쓰는 대본 서버를 이 컴퓨터에서 Ctrl-C까지 실행합니다. 언어 모델은 없지만\n도구와 승인, 기록은 진짜입니다."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			scenarios, err := c.scenarios(script)
			if err != nil {
				return err
			}
			ln, err := demo.Listen(cmd.Context(), addr)
			if err != nil {
				return c.fail(sys.CodeUnavailable, c.t("The demo cannot be served: ", "데모를 실행할 수 없습니다: ")+err.Error()+".", "")
			}
			c.printf("OXIOS_BASE_URL=%s", demoURL(ln))
			c.note("%s", c.t("Scripted demo, no language model. In another terminal, with the line above in its environment:\n  oxios run \"Write a hello file\"\nCtrl-C ends it.",
				"대본 데모이며 언어 모델이 아닙니다. 다른 터미널에서 위 환경 변수와 함께 실행하세요:\n  oxios run \"hello 파일을 만들어 줘\"\nCtrl-C로 끝냅니다."))
			return demo.New(scenarios...).Serve(cmd.Context(), ln)
		},
	}
	cmd.Flags().StringVar(&script, "script", "", c.t("play the scenarios of this `file` instead", "이 `파일`의 대본을 대신 씁니다"))
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", c.t("the `address`, on this machine; port 0 is a free one", "이 컴퓨터의 `주소`; 포트 0은 빈 포트"))
	return cmd
}

// scenarios reads a scenario file, or takes the bundled one.
func (c *console) scenarios(file string) ([]demo.Scenario, error) {
	if file == "" {
		return demo.Bundled(), nil
	}
	raw, err := c.readInput(file)
	if err != nil {
		return nil, err
	}
	list, err := demo.Parse(raw)
	if err != nil {
		return nil, c.fail(sys.CodeInvalid, c.t("The script has an error: ", "대본에 오류가 있습니다: ")+err.Error()+".", "")
	}
	return list, nil
}

func demoURL(ln net.Listener) string { return "http://" + ln.Addr().String() + "/v1" }

// StartDemo serves the scripted endpoint on a free port of this machine until
// ctx ends, and returns its base URL.
func StartDemo(ctx context.Context) (baseURL string, err error) {
	ln, err := demo.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = demo.New(demo.Bundled()...).Serve(ctx, ln) }() // a caller of a server that ended is refused its connection, and says so
	return demoURL(ln), nil
}

package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) a2aCommand() *cobra.Command {
	return c.group("a2a", "What agents can do for each other, and what they say", "에이전트가 서로 할 수 있는 일과 나눈 말",
		c.a2aCards(), c.a2aMessages(), c.a2aSend())
}

func (c *console) a2aCards() *cobra.Command {
	var q kernel.CardQuery
	cmd := &cobra.Command{
		Use: "cards", Short: c.t("List the cards of the agents that are at work", "일하는 에이전트의 카드를 봅니다"), Args: c.args(0, 0),
		Long: c.t("A card says what an agent can be asked for. It is inferred from its goal and its tools, and stands as long as the agent is at work.",
			"카드는 에이전트에게 무엇을 부탁할 수 있는지 알려 줍니다. 목표와 도구에서 추론하며, 일하는 동안에만 있습니다."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			items, err := l.A2A.Cards(cmd.Context(), q)
			if err != nil {
				return err
			}
			head := []string{"PID", "ID", c.t("NAME", "이름"), c.t("SKILLS", "할 수 있는 일"), c.t("GOAL", "목표")}
			return list(c, items, c.t("No agent is at work.", "일하는 에이전트가 없습니다."), head, func(k kernel.AgentCard) []string {
				var skills []string
				for _, s := range k.Skills {
					skills = append(skills, c.either(s.Name, s.NameKO))
				}
				return []string{strconv.FormatInt(k.PID, 10), tail(k.ID), short(k.Name, 32), short(strings.Join(skills, ", "), 60), short(k.Description, 48)}
			})
		},
	}
	cmd.Flags().StringVar(&q.Capability, "can", "", c.t("only those that can do this, as `testing`", "이것을 할 수 있는 것만 봅니다(예: `testing`)"))
	return c.withJSON(cmd)
}

func (c *console) a2aMessages() *cobra.Command {
	var q kernel.MailQuery
	cmd := &cobra.Command{
		Use: "messages [ID]", Short: c.t("List what agents said to each other, the newest first", "에이전트가 나눈 말을 최근 순으로 봅니다"), Args: c.args(0, 1),
		Long: c.t("With an agent only what it sent and got. A returned message was not read, or not answered, before its receiver ended.",
			"에이전트를 쓰면 그것이 주고받은 말만 봅니다. 돌아온 메시지는 받는 쪽이 읽거나 답하기 전에 끝난 것입니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			if len(args) > 0 {
				p, err := c.process(cmd, l, args[0])
				if err != nil {
					return err
				}
				q.RunID = p.ID
			}
			items, err := l.A2A.Messages(cmd.Context(), q)
			if err != nil {
				return err
			}
			head := []string{"#", c.t("STATE", "상태"), c.t("KIND", "종류"), c.t("FROM", "보낸 쪽"), c.t("TO", "받는 쪽"), c.t("AGE", "경과"), c.t("TEXT", "내용")}
			return list(c, items, c.t("No agent has said anything to another one.", "에이전트가 나눈 말이 없습니다."), head, func(m kernel.AgentMessage) []string {
				return []string{
					strconv.FormatInt(m.N, 10), c.mailState(m.State), c.mailKind(string(m.Kind)), short(c.agentName(m.From, m.FromName), 24), short(c.agentName(m.To, m.ToName), 24),
					ago(m.CreatedAt), short(m.Text, 60),
				}
			})
		},
	}
	cmd.Flags().IntVar(&q.Limit, "limit", 50, c.t("how `many` at most", "최대 `개수`"))
	return c.withJSON(cmd)
}

func (c *console) a2aSend() *cobra.Command {
	return &cobra.Command{
		Use: "send ID TEXT", Short: c.t("Put a message of yours into an agent's queue", "에이전트의 대기열에 메시지를 넣습니다"), Args: c.args(2, -1),
		Long: c.t("The agent reads it before its next step as what you say. Unlike `oxios message` it is listed with its state among what agents say to each other.",
			"에이전트는 다음 단계 전에 이것을 사용자의 말로 읽습니다. `oxios message`와 달리 에이전트가 나눈 말에 상태와 함께 남습니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withProcess(cmd, args[0], func(l *link, p kernel.Process) error {
				m, err := l.A2A.Send(cmd.Context(), kernel.AgentSend{To: p.ID, Text: strings.Join(args[1:], " ")})
				if err != nil {
					return err
				}
				c.printf(c.t("%s reads message %d before its next step.", "%s이(가) 다음 단계 전에 메시지 %d을(를) 읽습니다."), tail(p.ID), m.N)
				return nil
			})
		},
	}
}

// agentName names who sent or got a message.
func (c *console) agentName(run, name string) string {
	if run == "" {
		return c.t("you", "나")
	}
	return name
}

func (c *console) mailState(state string) string {
	words := map[string]string{
		"waiting": c.t("waiting", "대기"), "delivered": c.t("read", "읽음"), "answered": c.t("answered", "답함"), "returned": c.t("returned", "돌아옴"),
	}
	if w, ok := words[state]; ok {
		return w
	}
	return state
}

func (c *console) mailKind(kind string) string {
	words := map[string]string{
		"task_delegation": c.t("task", "부탁"), "status_update": c.t("status", "상황"), "result_sharing": c.t("result", "결과"),
		"capability_query": c.t("question", "질문"), "handshake": c.t("introduction", "소개"),
	}
	if w, ok := words[kind]; ok {
		return w
	}
	return kind
}

package sys

// koreanA2A are the sentences about what agents say to each other.
func koreanA2A() [][2]string {
	return [][2]string{
		// The tool.
		{"Look which agents it can reach", "함께 일하는 에이전트 보기"},
		{"Look for an agent: %s", "에이전트 찾기: %s"},
		{"Tell %s: %s", "%s에게 전하기: %s"},
		{"Told %s: %s", "%s에게 전했습니다: %s"},
		{"Ask %s: %s", "%s에게 묻기: %s"},
		{"Asked %s: %s", "%s에게 물었습니다: %s"},
		{"Answer message %s: %s", "메시지 %s에 답하기: %s"},
		{"Answered %s: %s", "%s에게 답했습니다: %s"},
		{"the person", "사용자"},
		{"Delegate: %s", "맡기기: %s"},
		{"Delegated to %s: %s", "%s에게 맡겼습니다: %s"},
		{"Saw %s that it can reach", "함께 일하는 %s을(를) 보았습니다"},
		{"Found %s for it", "맞는 %s을(를) 찾았습니다"},

		// Who can be reached.
		{"The message names no agent. Nothing was sent.", "받을 에이전트를 쓰지 않았습니다. 아무것도 보내지 않았습니다."},
		{"Action agents lists those that you can reach.", "agents로 닿을 수 있는 에이전트를 보세요."},
		{"That is this agent itself. Nothing was sent.", "자기 자신입니다. 아무것도 보내지 않았습니다."},
		{"%s does not belong to the agents that work on this. Nothing was sent.", "%s은(는) 이 일을 하는 에이전트가 아닙니다. 아무것도 보내지 않았습니다."},
		{"Nobody works on that run, so it would not read the message. Nothing was sent.", "그 실행은 진행 중이 아니어서 메시지를 읽지 않습니다. 아무것도 보내지 않았습니다."},
		{"There is no agent %q at work that could be reached. Nothing was sent.", "닿을 수 있는 일하는 에이전트 중에 %q이(가) 없습니다. 아무것도 보내지 않았습니다."},
		{"%d agents have the name %q. Nothing was sent.", "이름이 같은 에이전트가 %d개 있습니다(%q). 아무것도 보내지 않았습니다."},
		{"Name it by its id.", "ID로 쓰세요."},
		{"The question is empty. Nothing was looked up.", "질문이 비어 있습니다. 아무것도 찾지 않았습니다."},
		{"Only an agent replies. Nothing was sent.", "답장은 에이전트만 합니다. 아무것도 보내지 않았습니다."},
		{"Send it a message.", "메시지를 보내세요."},
		{"Only an agent delegates. Nothing was started.", "에이전트만 일을 맡길 수 있습니다. 아무것도 시작하지 않았습니다."},

		// Messages.
		{"A progress is 0 to 100 percent, not %d. Nothing was sent.", "진행률은 0에서 100 사이여야 합니다(%d). 아무것도 보내지 않았습니다."},
		{"The message has %d KB; %d KB is the most between agents. Nothing was sent.", "메시지가 %d KB입니다. 에이전트끼리는 %d KB까지 보낼 수 있습니다. 아무것도 보내지 않았습니다."},
		{"There is no kind of message %q. Nothing was sent.", "%q라는 메시지 종류는 없습니다. 아무것도 보내지 않았습니다."},
		{"%s waits for you, so neither would ever go on: two agents do not wait for each other. Nothing was done.", "%s이(가) 이 에이전트를 기다리고 있어 둘 다 멈추게 됩니다. 에이전트끼리 서로 기다리지 않습니다. 아무것도 하지 않았습니다."},
		{"Answer what it asked you, or say what you need in your own result.", "받은 질문에 답하거나, 필요한 것을 결과에 쓰세요."},
		{"The agent %s has ended (%s), so it would not read the message. Nothing was sent.", "에이전트 %s이(가) 이미 끝나(%s) 메시지를 읽지 않습니다. 아무것도 보내지 않았습니다."},
		{"Start another agent, or do it yourself.", "다른 에이전트를 만들거나 직접 하세요."},
		{"%d messages wait for %s already, the most there may be. Nothing was sent.", "이미 한도인 메시지 %d개가 %s을(를) 기다립니다. 아무것도 보내지 않았습니다."},
		{"Let it read them first.", "먼저 읽을 시간을 주세요."},
		{"Message %d is answered already. Nothing was sent.", "메시지 %d에는 이미 답했습니다. 아무것도 보내지 않았습니다."},
		{"Say more with action send.", "더 할 말은 send로 보내세요."},
		{"Message %d is not there to be answered (%s). Nothing was sent.", "메시지 %d에는 답할 수 없습니다(%s). 아무것도 보내지 않았습니다."},
		{"You got no message %q. Nothing was sent.", "메시지 %q을(를) 받은 적이 없습니다. 아무것도 보내지 않았습니다."},
		{"The id stands with each message that you read.", "읽은 메시지마다 ID가 있습니다."},
		{"%s has not answered within %d seconds. It may still: then its answer comes as a message.", "%s이(가) %d초 안에 답하지 않았습니다. 나중에 답하면 메시지로 옵니다."},
		{"Go on with something else meanwhile.", "그동안 다른 일을 하세요."},
		{"The agent %s ended (%s) before it read this.", "에이전트 %s이(가) 이것을 읽기 전에 끝났습니다(%s)."},
		{"The agent %s ended (%s) without an answer. %s", "에이전트 %s이(가) 답하지 않고 끝났습니다(%s). %s"},
		{"Ask another agent, start one, or do it yourself.", "다른 에이전트에게 묻거나, 새로 만들거나, 직접 하세요."},
	}
}

package sys

// koreanAgents are the sentences about agents as processes: forks, the scheduler
// and what goes on after a crash.
func koreanAgents() [][2]string {
	return [][2]string{
		// The tool.
		{"The model %s used all the tokens of its answer for thinking and answered nothing. What was done before is kept.", "%s 모델이 답변에 쓸 토큰을 모두 생각하는 데 쓰고 아무 답도 하지 않았습니다. 지금까지 한 일은 그대로입니다."},
		{"Ask again with less in the message, or choose another model.", "메시지를 줄여 다시 묻거나 다른 모델을 고르세요."},
		{"The model answered nothing and was asked once more.", "모델이 빈 답변을 보내 한 번 더 물었습니다."},
		{"The model %s answered nothing, twice. What was done before is kept.", "%s 모델이 두 번 연속 빈 답변을 보냈습니다. 지금까지 한 일은 그대로입니다."},
		{"Ask again, or choose another model.", "다시 묻거나 다른 모델을 고르세요."},
		{"The model wrote a tool call as text. Nothing was run, and it was asked once more.", "모델이 도구 호출을 글로 적었습니다. 아무것도 실행하지 않고 한 번 더 물었습니다."},
		{"The model %s wrote a tool call as text, twice. Nothing of it was run. What was done before is kept.", "%s 모델이 두 번 연속 도구 호출을 글로 적었습니다. 아무것도 실행하지 않았고, 지금까지 한 일은 그대로입니다."},
		{"Choose a model that can use tools. Settings, Models tests it.", "도구를 쓸 수 있는 모델을 고르세요. 설정의 모델에서 시험할 수 있습니다."},
		{"%s needs the id of an agent. Nothing was done.", "%s에는 에이전트의 ID가 필요합니다. 아무것도 하지 않았습니다."},
		{"Fork an agent: %s", "에이전트 만들기: %s"},
		{"Forked an agent: %s", "에이전트를 만들었습니다: %s"},
		{"Wait for other agents", "다른 에이전트 기다리기"},
		{"Waited for %s", "%s을(를) 기다렸습니다"},
		{"List its agents", "하위 에이전트 목록 보기"},
		{"Look at agent %s", "에이전트 %s 보기"},
		{"Looked at agent %s", "에이전트 %s을(를) 보았습니다"},
		{"Stop agent %s", "에이전트 %s 멈추기"},
		{"Stopped agent %s", "에이전트 %s을(를) 멈췄습니다"},
		{"Tell agent %s something", "에이전트 %s에게 전하기"},
		{"Told agent %s something", "에이전트 %s에게 전했습니다"},
		{"This agent has forked none, so there is nobody to wait for.", "이 에이전트가 만든 에이전트가 없어 기다릴 대상이 없습니다."},
		{"Fork one first.", "먼저 하나를 만드세요."},

		// Forks.
		{"Only an agent forks. Nothing was started.", "에이전트만 다른 에이전트를 만들 수 있습니다. 아무것도 시작하지 않았습니다."},
		{"Send a message to start an agent.", "메시지를 보내면 에이전트가 시작합니다."},
		{"A fork needs a goal. Nothing was started.", "새 에이전트에는 목표가 필요합니다. 아무것도 시작하지 않았습니다."},
		{"Say in goal what it should do, with all that it must know.", "goal에 할 일과 알아야 할 것을 모두 쓰세요."},
		{"The goal has more than 1 MB. Nothing was started.", "목표가 1 MB를 넘습니다. 아무것도 시작하지 않았습니다."},
		{"Put the material into a file and name the file.", "자료를 파일에 넣고 그 파일 이름을 쓰세요."},
		{"Agents fork at most %d deep (max_depth), and this one is at the end. Nothing was started.", "에이전트는 최대 %d단계까지 만들 수 있는데(max_depth) 여기가 끝입니다. 아무것도 시작하지 않았습니다."},
		{"Do the work yourself.", "직접 하세요."},
		{"This agent has forked %d agents already, the most there may be (max_children). Nothing was started.", "이 에이전트는 이미 한도인 %d개를 만들었습니다(max_children). 아무것도 시작하지 않았습니다."},
		{"Do the rest of the work yourself.", "나머지는 직접 하세요."},
		{"%s is no folder inside the one of this agent. Nothing was started.", "%s은(는) 이 에이전트의 폴더 안에 있는 폴더가 아닙니다. 아무것도 시작하지 않았습니다."},
		{"Leave folder out, or name one inside %s.", "folder를 빼거나 %s 안의 폴더를 쓰세요."},
		{"The run %s is none that this agent has forked.", "실행 %s은(는) 이 에이전트가 만든 것이 아닙니다."},
		{"List yours with action list.", "list로 만든 것의 목록을 보세요."},

		{"Another agent forked that one, so it is not continued by itself. Nothing was sent.", "다른 에이전트가 만든 것이라 따로 이어 갈 수 없습니다. 아무것도 보내지 않았습니다."},
		{"Go on with the agent that forked it, and say what it should do again.", "그것을 만든 에이전트를 이어 가며 다시 할 일을 말하세요."},

		// Pausing and telling.
		{"Nobody works on that run, so there is nothing to pause.", "진행 중인 실행이 아니어서 멈춰 둘 것이 없습니다."},
		{"`oxios ps` lists those that are at work.", "`oxios ps`에서 진행 중인 실행을 볼 수 있습니다."},
		{"That agent is not at work any more, so it would not read the message. Nothing was sent.", "그 에이전트는 더 이상 일하고 있지 않아 메시지를 읽지 못합니다. 아무것도 보내지 않았습니다."},
		{"Write in its conversation instead.", "대신 그 대화에 쓰세요."},
		{"The agent %s ended before it read your message: %s", "에이전트 %s이(가) 메시지를 읽기 전에 끝났습니다: %s"},

		// Replay.
		{"That run has not ended, so it cannot be replayed yet.", "아직 끝나지 않은 실행이라 재현할 수 없습니다."},
		{"Wait for its end, or stop it.", "끝날 때까지 기다리거나 멈추세요."},
		{"There is no place for a replay: %w.", "재현할 자리가 없습니다: %w."},

		// The model's window.
		{"Makes room: the conversation so far is summarised", "자리 마련: 지금까지의 대화를 요약하는 중"},
		{"Made room: %s summarised", "자리 마련: %s 요약"},
		{"Made room: %s listed, because the model could not be asked", "자리 마련: 모델에 물을 수 없어 %s 목록으로 정리"},
		{"No room could be made", "자리를 마련하지 못함"},
		{"The conversation was about to be summarised", "대화를 요약하려던 참"},
		{"%d messages and %d tool results", "메시지 %d개와 도구 결과 %d개"},
		{"%d messages", "메시지 %d개"},
		{"one message", "메시지 1개"},
		{"The conversation is too long for the window of %s, and it could not be put short enough. What was done is kept.", "대화가 %s이(가) 한 번에 읽을 수 있는 길이를 넘고, 충분히 줄일 수 없었습니다. 한 일은 남아 있습니다."},
		{"The message is too long for the window of %s. Nothing was done, and the message is kept.", "메시지가 %s이(가) 한 번에 읽을 수 있는 길이를 넘습니다. 아무것도 하지 않았으며 메시지는 남아 있습니다."},
		{"Go on in a new conversation with less in it, or choose a model with a larger window.", "내용을 줄여 새 대화에서 이어 가거나, 더 긴 대화를 읽는 모델을 고르세요."},

		// The scheduler, and what goes on after a crash.
		{"There is no priority %q.", "우선순위 %q은(는) 없습니다."},
		{"Use low, normal, high or critical.", "low, normal, high, critical 중 하나를 쓰세요."},
		{"Oxios stopped the run, because it made no progress for %d seconds (zombie_timeout_secs). What was done before is kept.", "%d초 동안 진척이 없어 Oxios가 실행을 멈췄습니다(zombie_timeout_secs). 그 전에 한 일은 남아 있습니다."},
		{"Continue, or say what should be done differently. A command that is silent for longer needs a higher zombie_timeout_secs.", "이어서 하게 하거나, 무엇을 다르게 할지 말하세요. 더 오래 출력이 없는 명령에는 zombie_timeout_secs를 늘려야 합니다."},
		{"It took longer than the %d seconds that a run may take (max_run_time_s), so it was ended. What was done before is kept.", "실행이 쓸 수 있는 %d초(max_run_time_s)를 넘겨 끝냈습니다. 그 전에 한 일은 남아 있습니다."},
		{"Oxios went down %d times while this run was at work, so it was not taken up again. All finished steps are kept.", "이 실행이 일하는 동안 Oxios가 %d번 꺼져서 다시 시작하지 않았습니다. 끝난 단계는 모두 남아 있습니다."},
		{"Continue it if you know what was wrong, or ask for something else.", "원인을 안다면 이어서 하고, 아니면 다른 것을 부탁하세요."},
		{"%d agents are asked for, but it must be from 1 to %d (max_children). Nothing was sent.", "에이전트 %d명을 요청했지만 1명에서 %d명까지여야 합니다(max_children). 아무것도 보내지 않았습니다."},
		{"The person wants one agent for this task. Nothing was started.", "이 일에는 에이전트 하나만 쓰기로 했습니다. 아무것도 시작하지 않았습니다."},
		{"At most %d agents may work on this task at once, and as many do. Nothing was started.", "이 일에는 한 번에 에이전트 %d명까지만 일할 수 있고, 이미 그만큼 일하고 있습니다. 아무것도 시작하지 않았습니다."},
		{"Wait for one of them with action wait, then fork again; or do this part yourself.", "wait로 하나를 기다린 뒤 다시 나누거나, 이 부분은 직접 하세요."},
		{"Another agent (%s) writes in %s too. Files may change while both are at work.", "다른 에이전트(%s)도 %s에 쓰고 있습니다. 둘이 일하는 동안 파일이 바뀔 수 있습니다."},
	}
}

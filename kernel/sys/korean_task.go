package sys

// koreanTask are the sentences about tasks: what is asked, agreed on, checked
// and evaluated.
func koreanTask() [][2]string {
	return [][2]string{
		// Beginning a task.
		{"Begin a task", "작업 시작"},
		{"Begin a task: %s", "작업 시작: %s"},
		{"Asked before the task begins: %s", "시작 전에 물어봄: %s"},
		{"Agreed on the task: %s", "작업을 정함: %s"},
		{"A question before it begins: %s", "시작하기 전에 물어볼 것: %s"},
		{"%d questions before it begins: %s", "시작하기 전에 물어볼 것 %d가지: %s"},
		{"The task cannot be begun: %s. Nothing was done.", "작업을 시작할 수 없습니다: %s. 아무것도 하지 않았습니다."},
		{"Correct it and call begin_task again.", "고쳐서 begin_task를 다시 호출하세요."},
		{"The task has %d bytes; %d are the most. Nothing was begun.", "작업이 %d바이트입니다. %d바이트까지 됩니다. 아무것도 시작하지 않았습니다."},
		{"Say it shorter, or begin with a part of it.", "더 짧게 쓰거나 일부부터 시작하세요."},
		{"Only an agent at work begins a task. Nothing was done.", "작업은 일하는 에이전트만 시작합니다. 아무것도 하지 않았습니다."},
		{"Say in a message what should be done.", "무엇을 할지 메시지로 말하세요."},
		{"This run has finished its task (seed %s) already. Nothing was begun.", "이 실행은 작업(시드 %s)을 이미 마쳤습니다. 아무것도 시작하지 않았습니다."},
		{"Answer the person.", "사용자에게 답하세요."},
		{"This run works on a task already (seed %s). Nothing new was begun, and that one stays as it is.", "이 실행은 이미 작업(시드 %s)을 하고 있습니다. 새로 시작하지 않았고, 그 작업은 그대로입니다."},
		{"Finish it: work with your tools, then answer.", "마저 끝내세요. 도구로 일한 다음 답하세요."},
		{"Another call begins a task in this run already. Nothing was done by this one.", "이 실행에서 다른 호출이 이미 작업을 시작하고 있습니다. 이 호출은 아무것도 하지 않았습니다."},
		{"Call begin_task once, and wait for its answer.", "begin_task를 한 번만 호출하고 답을 기다리세요."},

		// Answering.
		{"That run asks nothing. Nothing was recorded.", "그 실행은 묻는 것이 없습니다. 아무것도 기록하지 않았습니다."},
		{"`oxios ps` shows what it does.", "`oxios ps`로 무엇을 하는지 볼 수 있습니다."},
		{"The run asks something else by now. Nothing was recorded.", "그 실행은 이제 다른 것을 묻고 있습니다. 아무것도 기록하지 않았습니다."},
		{"There are %d answers to %d questions. Nothing was recorded.", "답이 %d개인데 질문은 %d개입니다. 아무것도 기록하지 않았습니다."},
		{"There is no answer. Nothing was recorded.", "답이 없습니다. 아무것도 기록하지 않았습니다."},
		{"Answer at least one question, or let the agent assume the rest and start.", "질문 하나에라도 답하거나, 나머지는 가정하고 시작하게 하세요."},

		// Splitting.
		{"The agent that worked on it did not finish: %s", "맡은 에이전트가 끝내지 못했습니다: %s"},
		{"%d agents work on the parts", "에이전트 %d개가 부분을 맡아 일하는 중"},
		{"it reached the limit of its turns", "차례 한도에 이르렀습니다"},
		{"its own criteria do not hold", "스스로 정한 기준이 충족되지 않았습니다"},
		{"it was stopped", "중지되었습니다"},
		{"its answer was cut off", "답이 끊겼습니다"},
		{"it ended as %s", "%s 상태로 끝났습니다"},

		// Checking and judging.
		{"Check: %s", "확인: %s"},
		{"%s ended with %d", "%s 종료 코드 %d"},
		{"%s ended with %d: %s", "%s 종료 코드 %d: %s"},
		{"%s did not end in time", "%s이(가) 제때 끝나지 않았습니다"},
		{"It could not be checked: %s", "확인하지 못했습니다: %s"},
		{"There is no %s", "%s이(가) 없습니다"},
		{"%s is there", "%s이(가) 있습니다"},
		{"%s does not contain “%s”", "%s에 “%s”이(가) 없습니다"},
		{"%s, line %d: %s", "%s, %d번째 줄: %s"},
		{"It is not known how the check ended, because Oxios stopped in the middle of it.", "확인 도중 Oxios가 멈춰 결과를 알 수 없습니다."},
		{"There is no task to evaluate.", "평가할 작업이 없습니다."},
		{"It is undecided, because the judging answer could not be read: %v.", "판정 답을 읽을 수 없어 정해지지 않았습니다: %v."},
		{"It is undecided, because the judging answer does not mention it.", "판정 답에 이 기준이 없어 정해지지 않았습니다."},
		{"It is undecided, because the model could not be asked: %v", "모델에 물을 수 없어 정해지지 않았습니다: %v"},
		{"It was judged not to hold, without a reason.", "충족되지 않았다고 판정했지만 이유가 없습니다."},
		{"It was judged to hold, but without evidence that can be looked up.", "충족되었다고 판정했지만 찾아볼 수 있는 근거가 없습니다."},
		{"It was judged to hold, but the quoted evidence stands nowhere: “%s”.", "충족되었다고 판정했지만 인용한 근거가 어디에도 없습니다: “%s”."},
		{"it is no complete JSON", "온전한 JSON이 아닙니다"},
		{"something follows its JSON", "JSON 뒤에 다른 것이 있습니다"},
		{"it holds no verdict", "판정이 들어 있지 않습니다"},
		{"it says both about criterion %d", "기준 %d에 대해 두 가지로 말합니다"},

		// Seeds and their history.
		{"There is no seed %q.", "시드 %q이(가) 없습니다."},
		{"`oxios seeds list` lists them.", "`oxios seeds list`에서 볼 수 있습니다."},
		{"workspace/%s cannot be read: %w.", "workspace/%s을(를) 읽을 수 없습니다: %w."},
		{"Bring the folder workspace of the home back from a backup.", "백업에서 데이터 폴더의 workspace 폴더를 되살리세요."},
		{"workspace/%s cannot be written: %w. Nothing was begun.", "workspace/%s에 쓸 수 없습니다: %w. 아무것도 시작하지 않았습니다."},
		{"%q is no path of the workspace.", "%q은(는) 작업 공간의 경로가 아닙니다."},
		{"%s exists already and is never changed.", "%s은(는) 이미 있으며 바꾸지 않습니다."},
		{"The history has no %q.", "기록에 %q이(가) 없습니다."},
		{"%s is not in the history at %s.", "%s은(는) %s 시점의 기록에 없습니다."},
		{"The history has a tag %q already.", "기록에 %q 태그가 이미 있습니다."},
		{"The history of %s is damaged.", "%s의 기록이 손상되었습니다."},
		{"no seeds so far", "아직 시드 없음"},
		{"seeds and evaluations are as they were written", "시드와 평가가 기록된 그대로입니다"},
		{"workspace/%s is not as it was written", "workspace/%s이(가) 기록된 것과 다릅니다"},
		{"Seeds are never changed by Oxios. `git -C %s checkout -- .` brings back what was written.", "Oxios는 시드를 바꾸지 않습니다. `git -C %s checkout -- .`로 기록된 내용을 되돌릴 수 있습니다."},
	}
}

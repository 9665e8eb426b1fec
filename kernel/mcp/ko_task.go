package mcp

import "oxios/kernel/sys"

func init() { sys.Speaks(koreanTask) }

// koreanTask are the sentences about tasks of servers.
func koreanTask() [][2]string {
	return [][2]string{
		{"it answered about another task", "다른 작업에 대해 답했습니다"},
		{"it named a state that there is not", "없는 상태를 말했습니다"},
		{"it had ended, and went back", "끝난 작업이 이전 상태로 돌아갔습니다"},
		{"it ended without a result", "결과 없이 끝났습니다"},
		{"nobody knows what it asks for", "무엇을 요청하는지 알 수 없습니다"},
		{"What the server %s says of its task makes no sense (%s). Check what %s did before you try again.", "%s 서버가 작업에 대해 말한 내용이 맞지 않습니다 (%s). 다시 시도하기 전에 %s 도구가 무엇을 했는지 확인하세요."},
		{"The task of %s failed at its server: %s", "서버에서 %s 작업이 실패했습니다: %s"},
		{"The server %s cancelled the task of %s. Check what it did before you try again.", "%s 서버가 %s 작업을 취소했습니다. 다시 시도하기 전에 무엇을 했는지 확인하세요."},
		{"The server %s does not know the task of %s any more. Check what it did before you try again.", "%s 서버가 %s 작업을 더 이상 알지 못합니다. 다시 시도하기 전에 무엇을 했는지 확인하세요."},
		{"The server %s could not be asked any more what became of %s. Check what it did before you try again.", "%s 서버에 %s 작업이 어떻게 되었는지 더 물을 수 없습니다. 다시 시도하기 전에 무엇을 했는지 확인하세요."},
		{"The task of %s had not ended after %s, so it was cancelled. Check what it did before you try again.", "%s 작업이 %s 안에 끝나지 않아 취소했습니다. 다시 시도하기 전에 무엇을 했는지 확인하세요."},
		{"The server %s answered %s with a task that has no usable id. Check what it did before you try again.", "%s 서버가 %s 호출에 쓸 수 없는 작업 ID로 답했습니다. 다시 시도하기 전에 무엇을 했는지 확인하세요."},
		{"The server %s changed while it worked on the task of %s. Check what it did before you try again.", "%s 서버가 %s 작업을 하는 동안 바뀌었습니다. 다시 시도하기 전에 무엇을 했는지 확인하세요."},
		{"The task of %s asks for something that Oxios does not know, so it was cancelled. Check what it did before you try again.", "%s 작업이 Oxios가 모르는 것을 요청해서 취소했습니다. 다시 시도하기 전에 무엇을 했는지 확인하세요."},
		{"The task of %s asks for something that it does not get (%s), so it was cancelled. Check what it did before you try again.", "%s 작업의 요청을 들어줄 수 없어 취소했습니다 (%s). 다시 시도하기 전에 무엇을 했는지 확인하세요."},
	}
}

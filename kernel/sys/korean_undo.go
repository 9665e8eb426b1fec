package sys

// koreanUndo are the sentences about undoing what runs did to files.
func koreanUndo() [][2]string {
	return [][2]string{
		{"How to undo it could not be recorded, so it was not done: %w.", "되돌릴 방법을 기록할 수 없어 하지 않았습니다: %w."},
		{"Free some space, or look at the disk.", "공간을 비우거나 디스크를 확인하세요."},
		{"That run did not change %s, as far as Oxios knows. Nothing was changed.", "Oxios가 아는 한 그 실행은 %s을(를) 바꾸지 않았습니다. 아무것도 바꾸지 않았습니다."},
		{"`oxios undo RUN --dry-run` lists what it changed.", "`oxios undo RUN --dry-run`으로 바꾼 것을 볼 수 있습니다."},
		{"That run has not ended. Nothing was changed.", "그 실행은 아직 끝나지 않았습니다. 아무것도 바꾸지 않았습니다."},
		{"Stop it first, or wait for its end.", "먼저 멈추거나 끝날 때까지 기다리세요."},
		{"A command that this run began is still at work in the background. Nothing was changed.", "이 실행이 시작한 명령이 아직 백그라운드에서 돌고 있습니다. 아무것도 바꾸지 않았습니다."},
		{"An agent that this run started is still at work: %s. Nothing was changed.", "이 실행이 시작한 에이전트가 아직 일하고 있습니다: %s. 아무것도 바꾸지 않았습니다."},
		{"Stop it first, wait for its end, or undo this run alone.", "먼저 멈추거나 끝날 때까지 기다리거나, 이 실행만 되돌리세요."},
		{"Something has changed since this was shown. Nothing was changed.", "미리 본 뒤에 무언가 바뀌었습니다. 아무것도 바꾸지 않았습니다."},
		{"%s is no conflict that can be decided. Nothing was changed.", "%s은(는) 고를 수 있는 충돌이 아닙니다. 아무것도 바꾸지 않았습니다."},
		{"Its folder is not there any more.", "들어 있던 폴더가 이제 없습니다."},
		{"A folder above it is a link now.", "위쪽 폴더가 이제 링크입니다."},
		{"It cannot be read now.", "지금은 읽을 수 없습니다."},
		{"How it was is not kept: it was too large.", "너무 커서 이전 내용을 보관하지 않았습니다."},
		{"It is so already.", "이미 그 상태입니다."},
		{"A pipe, a socket or a device stands there now.", "그 자리에 이제 파이프나 소켓, 장치가 있습니다."},
		{"A folder stands there now.", "그 자리에 이제 폴더가 있습니다."},
		{"A file stands there now.", "그 자리에 이제 파일이 있습니다."},
		{"Another run changed it later: %s.", "나중에 다른 실행이 바꾸었습니다: %s."},
		{"It was changed after that.", "그 뒤에 바뀌었습니다."},
		{"It was removed after the run.", "실행 뒤에 지워졌습니다."},
		{"It was changed after the run, by you or by another program.", "실행 뒤에 사용자나 다른 프로그램이 바꾸었습니다."},
		{"It was changed while a command worked in the background, or Oxios went down; it may have been you.", "명령이 백그라운드에서 도는 동안, 또는 Oxios가 꺼진 동안 바뀌었습니다. 사용자가 바꾼 것일 수 있습니다."},
		{"Somebody else changed it while the run was at work: it goes back to that.", "실행 중에 다른 누군가가 바꾸었습니다. 그 내용으로 돌아갑니다."},
		{"The folder stays: other things are in it.", "다른 것이 들어 있어 폴더는 남습니다."},
		{"It was changed in this moment, and stays as it is.", "바로 그때 바뀌어서 그대로 두었습니다."},
		{"The disk refused it: %v.", "디스크가 거부했습니다: %v."},
		{"yes", "가능"},
		{"yes, in its folder; not files above %d MB, nor .git, node_modules and folders that .gitignore leaves out", "작업 폴더 안에서 가능. %d MB가 넘는 파일과 .git, node_modules, .gitignore가 제외한 폴더는 되돌릴 수 없음"},
	}
}

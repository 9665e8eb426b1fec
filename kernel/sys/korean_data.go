package sys

// koreanData are the sentences of backup, restore, storage, deletion and export.
func koreanData() [][2]string {
	return [][2]string{
		// Making a backup.
		{"The backup has nothing to take over by the name %q. Nothing was changed.", "백업에 %q라는 이름으로 가져올 것이 없습니다. 아무것도 바꾸지 않았습니다."},
		{"`oxios restore --check FILE` lists what there is.", "`oxios restore --check 파일`이 가져올 수 있는 것을 보여 줍니다."},
		{"%q is not an absolute path. Nothing was written.", "%q은(는) 절대 경로가 아닙니다. 아무것도 쓰지 않았습니다."},
		{"%q is not an absolute path. Nothing was changed.", "%q은(는) 절대 경로가 아닙니다. 아무것도 바꾸지 않았습니다."},
		{"A backup, a restore or a cleaning is under way. Nothing was changed.", "백업, 복원 또는 정리가 진행 중입니다. 아무것도 바꾸지 않았습니다."},
		{"Try again when it is done.", "끝난 뒤에 다시 시도하세요."},
		{"%s is there already. It was not overwritten.", "%s이(가) 이미 있습니다. 덮어쓰지 않았습니다."},
		{"Choose another name.", "다른 이름을 고르세요."},
		{"%s lies in the home of Oxios itself. Nothing was written.", "%s은(는) Oxios의 데이터 폴더 안에 있습니다. 아무것도 쓰지 않았습니다."},
		{"Choose a folder outside of %s, best on another disk.", "%s 밖의 폴더를 고르세요. 다른 디스크가 가장 좋습니다."},
		{"The disk is full. Nothing was changed: %w.", "디스크가 가득 찼습니다. 아무것도 바꾸지 않았습니다: %w."},
		{"It could not be written: %w. Nothing was changed.", "쓰지 못했습니다: %w. 아무것도 바꾸지 않았습니다."},
		{"Check that the folder is there and that you may write in it.", "폴더가 있고 쓸 수 있는지 확인하세요."},
		{"Unpacking the backup takes %s, and %s are free. Nothing was changed.", "백업을 풀려면 %s이(가) 필요한데 남은 공간은 %s입니다. 아무것도 바꾸지 않았습니다."},
		{"%s was made while the backup was being restored. Nothing was changed.", "백업을 복원하는 동안 %s이(가) 만들어졌습니다. 아무것도 바꾸지 않았습니다."},

		// What is wrong with one.
		{"There is no file %s.", "%s 파일이 없습니다."},
		{"Look where the backup lies, and name it with its whole path.", "백업이 있는 곳을 확인하고 전체 경로를 적어 주세요."},
		{"The backup %s cannot be read: %w. Nothing was changed.", "백업 %s을(를) 읽을 수 없습니다: %w. 아무것도 바꾸지 않았습니다."},
		{"The backup %s is cut off: a part of it is missing. Nothing was changed.", "백업 %s이(가) 잘렸습니다. 일부가 없습니다. 아무것도 바꾸지 않았습니다."},
		{"The backup %s is damaged: %s. Nothing was changed.", "백업 %s이(가) 손상되었습니다: %s. 아무것도 바꾸지 않았습니다."},
		{"Copy it again from where it was made, or use another backup.", "만든 곳에서 다시 복사하거나 다른 백업을 쓰세요."},
		{"The backup %s was made by a newer Oxios (%s). Nothing was changed.", "백업 %s은(는) 더 새로운 Oxios(%s)에서 만들었습니다. 아무것도 바꾸지 않았습니다."},
		{"Update Oxios and try again.", "Oxios를 업데이트하고 다시 시도하세요."},
		{"%s is no backup of Oxios. Nothing was changed.", "%s은(는) Oxios의 백업이 아닙니다. 아무것도 바꾸지 않았습니다."},
		{"A backup is a file that `oxios backup` wrote.", "백업은 `oxios backup`이 만든 파일입니다."},
		{"its checksums do not fit", "검사합이 맞지 않습니다"},
		{"its manifest cannot be read", "목록을 읽을 수 없습니다"},
		{"its database is damaged", "데이터베이스가 손상되었습니다"},
		{"it holds no database", "데이터베이스가 들어 있지 않습니다"},
		{"it names %q, which is no file of a home", "데이터 폴더의 파일이 아닌 %q이(가) 적혀 있습니다"},
		{"there is more in it than it should hold", "있어야 할 것보다 더 들어 있습니다"},
		{"%s is missing", "%s이(가) 없습니다"},
		{"%q stands where %q belongs", "%[2]q이(가) 있어야 할 곳에 %[1]q이(가) 있습니다"},
		{"%s is not what was saved", "%s이(가) 저장한 것과 다릅니다"},
		{"%s has %d rows instead of %d", "%s의 행이 %[3]d개가 아니라 %[2]d개입니다"},
		{"the audit chain is not the one that was saved", "감사 기록이 저장한 것과 다릅니다"},
		{"The chain has no head.", "사슬에 머리가 없습니다."},
		{"There is no place for the file: %w.", "파일을 둘 곳이 없습니다: %w."},
		{"The backup did not arrive whole: %w. Nothing was changed.", "백업이 온전히 도착하지 않았습니다: %w. 아무것도 바꾸지 않았습니다."},
		{"Try again; there may be too little room on the disk.", "다시 시도하세요. 디스크에 남은 공간이 부족할 수 있습니다."},
		{"This page is not signed in.", "이 페이지는 로그인되어 있지 않습니다."},
		{"Open Oxios with the link that `oxios serve` prints.", "`oxios serve`가 알려 준 주소로 여세요."},
		{"The call takes two texts.", "이 호출에는 텍스트 두 개가 필요합니다."},

		// Deleting and cleaning.
		{"That conversation is deleted for good already.", "그 대화는 이미 영구히 삭제되었습니다."},
		{"If you have a backup, restoring it brings the conversation back.", "백업이 있으면 복원해서 되찾을 수 있습니다."},
		{"The database is being read all the time, so its log could not be emptied.", "데이터베이스를 계속 읽고 있어 로그를 비우지 못했습니다."},
		{"Its log is emptied when Oxios ends.", "Oxios를 끝내면 로그가 비워집니다."},
		{"%q cannot be cleaned. Nothing was changed.", "%q은(는) 정리할 수 없습니다. 아무것도 바꾸지 않았습니다."},
		{"What can be cleaned: %s.", "정리할 수 있는 것: %s."},
		{"An agent is at work, and its commands may use the cache. Nothing was changed.", "에이전트가 일하고 있어 그 명령이 캐시를 쓸 수 있습니다. 아무것도 바꾸지 않았습니다."},
		{"Clean it when nothing runs.", "실행 중인 것이 없을 때 정리하세요."},
		{"Not all of it could be removed: %w. What is left can be cleaned again.", "모두 지우지는 못했습니다: %w. 남은 것은 다시 정리할 수 있습니다."},
	}
}

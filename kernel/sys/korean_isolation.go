package sys

// koreanIsolation are the sentences about the walls around commands.
func koreanIsolation() [][2]string {
	return [][2]string{
		{"The folder %s holds too much to be looked through for repositories.", "%s 폴더에 파일이 너무 많아 저장소를 다 찾아볼 수 없습니다."},
		{"Work in a folder inside it.", "그 안의 폴더에서 작업하세요."},
		{"level %d of 3: commands are partly contained; %d of %d trials held. %s", "3단계 중 %d단계: 명령이 일부 격리됩니다. 시험 %[3]d개 중 %[2]d개를 막았습니다. %[4]s"},
		{"They see names of files outside, and an approved network is all of it.", "폴더 밖 파일의 이름이 보이고, 네트워크를 승인하면 전체가 열립니다."},
		{"No way to the network could be made for the command: %w", "명령이 네트워크로 나갈 길을 만들 수 없습니다: %w"},
		{"This command has no network, because nobody approved it for this command.", "이 명령에는 네트워크가 승인되지 않아 연결할 수 없습니다."},
		{"This download reaches %s alone.", "이 다운로드는 %s 외에는 연결할 수 없습니다."},
	}
}

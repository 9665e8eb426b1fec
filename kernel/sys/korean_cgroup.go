package sys

// koreanCgroup are the sentences about what limits the memory of commands.
func koreanCgroup() [][2]string {
	return [][2]string{
		{"memory and processes of commands are held by cgroups", "명령의 메모리와 프로세스를 cgroup으로 제한합니다"},
		{"memory and processes of commands are watched, and what is over its limit is ended. %s", "명령의 메모리와 프로세스를 지켜보다가 한도를 넘으면 끝냅니다. %s"},
		{"memory and processes of commands are not limited on this system", "이 시스템에서는 명령의 메모리와 프로세스를 제한하지 않습니다"},
		{"The cgroups cannot be written: %w", "cgroup에 쓸 수 없습니다: %w"},
		{"The system starts nothing in a cgroup: %w", "시스템이 cgroup 안에서 프로그램을 시작하지 않습니다: %w"},
		{"This system hands out memory and processes by cgroups of the first version, or not at all.", "이 시스템은 메모리와 프로세스를 버전 1의 cgroup으로 나누거나 전혀 나누지 않습니다."},
		{"The cgroup %s was not handed over to Oxios.", "cgroup %s은(는) Oxios에 맡겨지지 않았습니다."},
		{"systemd gave Oxios no cgroup: %w", "systemd가 Oxios에 cgroup을 주지 않았습니다: %w"},
		{"This system has no cgroups of the second version.", "이 시스템에는 버전 2의 cgroup이 없습니다."},
		{"The cgroup %s has no say about memory and processes.", "cgroup %s은(는) 메모리와 프로세스를 제한할 수 없습니다."},
		{"Oxios is not alone in the cgroup %s.", "cgroup %s에 Oxios 말고 다른 프로그램도 있습니다."},
	}
}

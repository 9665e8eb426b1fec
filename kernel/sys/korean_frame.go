package sys

// koreanFrame are the sentences about the network and about what faces keep.
func koreanFrame() [][2]string {
	return [][2]string{
		{"%s The message waits, and goes out when the connection is back.", "%s 메시지는 기다렸다가 연결이 돌아오면 나갑니다."},

		{"%q cannot be kept: a key has up to 64 small letters, digits, - and _, a value up to 16 kB.", "%q을(를) 남겨 둘 수 없습니다. 키는 소문자, 숫자, -, _로 64자까지, 값은 16 kB까지입니다."},
		{"%d values are kept already, which is the most.", "이미 값 %d개가 남아 있고, 그것이 최대입니다."},
	}
}

package wasm

import "oxios/kernel/sys"

func init() { sys.Speaks(korean) }

// korean are the sentences of this package.
func korean() [][2]string {
	return [][2]string{
		{"The module %q could not be run: it ended the program that ran it. Nothing was changed.", "%q 모듈을 실행하지 못했습니다. 모듈을 실행하던 프로그램이 끝났습니다. 바뀐 것은 없습니다."},
		{"Its author has to mend it.", "모듈을 만든 사람이 고쳐야 합니다."},
		{"The module %q cannot be run: %w. Nothing was changed.", "%q 모듈을 실행할 수 없습니다: %w. 바뀐 것은 없습니다."},
		{"A module is a WebAssembly file for WASI preview 1 with at most 64 MB of memory.", "모듈은 WASI preview 1용 WebAssembly 파일이며 메모리를 64MB까지 씁니다."},
		{"The module %q needs the function %q of %q, which is not given to modules. Nothing was changed.", "%q 모듈에 필요한 %q 함수(%q)는 모듈에 제공되지 않습니다. 바뀐 것은 없습니다."},
		{"The module %q was ended after %s. Nothing was changed.", "%q 모듈을 %s 후에 중단했습니다. 바뀐 것은 없습니다."},
		{"Give it less to do at once.", "한 번에 맡기는 양을 줄이세요."},
		{"The module %q answers more than %d bytes. Nothing was changed.", "%q 모듈의 답이 %d바이트를 넘습니다. 바뀐 것은 없습니다."},
		{"The module %q failed with code %d%s. Nothing was changed.", "%q 모듈이 코드 %d로 실패했습니다%s. 바뀐 것은 없습니다."},
		{"The module %q failed (%s)%s. Nothing was changed.", "%q 모듈이 실패했습니다(%s)%s. 바뀐 것은 없습니다."},
		{"The module %q did not answer with JSON%s. Nothing was changed.", "%q 모듈이 JSON으로 답하지 않았습니다%s. 바뀐 것은 없습니다."},
		{"The module %q is larger than %d bytes. Nothing was run.", "%q 모듈이 %d바이트보다 큽니다. 실행하지 않았습니다."},
	}
}

package llm

import (
	"strings"
	"testing"
)

// The counts are those of o200k_base and cl100k_base, as tiktoken makes them.
var counted = map[string]struct {
	text          string
	o200k, cl100k int
}{
	"English": {`The agent reads the journal from its first open step on. A step that is closed is never repeated, and what nobody knows is told as unknown, to the model and to the person.`, 38, 38},
	"Korean":  {`에이전트는 저널에서 첫 번째로 열려 있는 단계부터 이어서 일합니다. 끝난 단계는 다시 하지 않으며, 결과를 알 수 없는 단계는 모델과 사람에게 그대로 알립니다.`, 45, 81},
	"Go": {`func (o *OpenStep) Close(ctx context.Context, outcome string, result json.RawMessage, also func(*Tx) error) error {
	if o.step.State == StepClosed {
		return errIllegal("close", o.step)
	}
	return o.j.s.Write(context.WithoutCancel(ctx), also)
}`, 63, 63},
	"JSON":     {`{"path": "kernel/agent/run.go", "old": "x.turns++", "new": "x.turns += 2", "count": 1, "ok": true, "sizes": [1024, 2048, 65536]}`, 56, 56},
	"hashes":   {`d3a7074 3a3abb2 51fde11 9f1eb86 e66df36 h1:2w1nUZh2V5X4ZQ1Hc3vWw1fYqk0m3f9cTz0r0bJm8Xg=`, 71, 72},
	"listing":  {strings.Repeat("drwxr-xr-x  4 root root   4096 Nov 22 03:47 kernel\n-rw-r--r--  1 root root  15320 Nov 22 03:41 architecture.md\n", 6), 294, 294},
	"Japanese": {`吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。`, 32, 39},
	"Russian":  {`Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.`, 25, 49},
	"diff":     {"--- a/notes.md\n+++ b/notes.md\n@@ -1,3 +1,4 @@\n # Notes\n-old line\n+new line\n+another line\n the end\n", 40, 39},
}

func TestTokensComeNearToWhatTokenizersCount(t *testing.T) {
	for name, c := range counted {
		got := Tokens(c.text)
		most := max(c.o200k, c.cl100k)
		if 100*got < 80*most || 100*got > 125*most {
			t.Errorf("%s: got %d tokens, want about %d (o200k) or %d (cl100k)", name, got, c.o200k, c.cl100k)
		}
	}
}

func TestTokensAreNeverMoreThanBytes(t *testing.T) {
	for _, text := range []string{"", "a", " ", "\n\n", "한", "😀", "\xff\xfe", strings.Repeat("\x80", 9), "é"} {
		if n := Tokens(text); n > len(text) {
			t.Errorf("%q: got %d tokens of %d bytes", text, n, len(text))
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	text := strings.Repeat(counted["Go"].text+counted["Korean"].text, 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Tokens(text)
	}
}

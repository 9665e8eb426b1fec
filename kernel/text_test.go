package kernel

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

func cp949(t testing.TB, s string) []byte {
	t.Helper()
	raw, err := korean.EUCKR.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestEncodingIsFoundAndWrittenBackAsItWas(t *testing.T) {
	t.Parallel()
	const text = "안녕하세요, 똠방각하.\r\nhello\n"
	for name, raw := range map[textEncoding][]byte{
		encUTF8:    []byte(text),
		encUTF8BOM: []byte("\xEF\xBB\xBF" + text),
		encCP949:   cp949(t, text),
		encUTF16LE: append([]byte{0xFF, 0xFE}, utf16le(text)...),
	} {
		got, enc, err := decodeText(raw)
		if err != nil || got != text || enc != name {
			t.Errorf("%s: got %q as %s, %v", name, got, enc, err)
			continue
		}
		back, err := enc.encode(got)
		if err != nil || !bytes.Equal(back, raw) {
			t.Errorf("%s: got % x back, %v, want % x", name, back, err, raw)
		}
	}
}

func utf16le(s string) []byte {
	var out []byte
	for _, r := range s {
		out = append(out, byte(r), byte(r>>8))
	}
	return out
}

func TestKoreanAfterALongAsciiStartIsStillCP949(t *testing.T) {
	t.Parallel()
	raw := append(bytes.Repeat([]byte("plain ascii\n"), 20000), cp949(t, "끝입니다\n")...)
	text, enc, err := decodeText(raw)
	if err != nil || enc != encCP949 || !strings.HasSuffix(text, "끝입니다\n") {
		t.Errorf("got %s, %v, ending %q", enc, err, text[len(text)-4:])
	}
}

func TestTextIsTextWhateverItsFirstLettersResemble(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"BMW,320i", "BM", "ID3", "GIF89a", "GIF87a", "%!PS-Adobe-3.0", ".snd", "OTTO", "MThd", "FWS", "RIFF....WEBPVP8 ", "wOFF", "true", "Rar!", "OggS", "%PDF-1.7", "II*", "\x1b[1mBM"} {
		for _, text := range []string{start, start + " is the first line\nand 둘째 줄\n"} {
			if got, enc, err := decodeText([]byte(text)); err != nil || enc != encUTF8 || got != text {
				t.Errorf("%q: got %q as %s, %v", text, got, enc, err)
			}
		}
		if got, enc, err := decodeText(cp949(t, start+" 차량,가격\n")); err != nil || enc != encCP949 {
			t.Errorf("%q: got %q as %s, %v", start, got, enc, err)
		}
	}
}

func TestWhatIsNoTextIsSaidToBeBinary(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"png":     []byte("\x89PNG\r\n\x1a\n\x00\x00"),
		"pdf":     []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
		"latin-1": []byte("caf\xe9\n"),
		"zeros":   make([]byte, 100),
		// Each of these is valid CP949 too, as other letters.
		"degrees":         []byte("Temp\n20\xb0C outside\nend\n"),
		"gbk":             encoded(t, simplifiedchinese.GBK, "中文测试\nabc\n"),
		"gbk, two":        encoded(t, simplifiedchinese.GBK, "北京\n"),
		"gbk, a sentence": encoded(t, simplifiedchinese.GBK, "配置文件不存在，请检查路径。\n用户登录失败\n"),
		"gb18030":         encoded(t, simplifiedchinese.GB18030, "数据库连接已断开\n"),
		"big5":            encoded(t, traditionalchinese.Big5, "繁體中文測試\nabc\n"),
		"euc-jp":          encoded(t, japanese.EUCJP, "これはテストです。設定ファイル\n"),
		"euc-jp, kanji":   encoded(t, japanese.EUCJP, "東京都\n"),
		"windows-1251":    encoded(t, charmap.Windows1251, "НАСТРОЙКИ пользователя\n"),
		"koi8-r":          encoded(t, charmap.KOI8R, "Привет, мир\n"),
		"windows-1253":    encoded(t, charmap.Windows1253, "Καλημέρα κόσμε\n"),
		"windows-1252":    encoded(t, charmap.Windows1252, "«Ä» ÜBERGRÖSSE\n"),
		"one syllable":    encoded(t, simplifiedchinese.GBK, "场\n"), // or Korean 끝
		"a mark alone":    []byte("\xff\xfeA\nEND\n"),
	} {
		var binary *errBinary
		if _, enc, err := decodeText(raw); !errors.As(err, &binary) {
			t.Errorf("%s: got %s, %v, want binary", name, enc, err)
		}
	}
}

func encoded(t *testing.T, e encoding.Encoding, s string) []byte {
	t.Helper()
	raw, err := e.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestKoreanOfEverydayFilesIsKnown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"안녕\n", "이름,나이\n홍길동,30\n김철수,25\n", "※ 주의: 10㎡ 이상 ①번\n", "ㅋㅋ 오늘 회의 3시입니다 ㅠㅠ\n", "서울특별시 강남구 테헤란로 123, 4층\n",
		"[설정]\r\n폴더=C:\\문서\r\n", "제1장 총칙(總則)\n제1조(목적) 이 규정은 회사의 운영에 필요한 사항을 정한다.\n", "웹 브라우저에서 첨부파일 열기 → 저장\n",
	} {
		if got, enc, err := decodeText(cp949(t, text)); err != nil || enc != encCP949 || got != text {
			t.Errorf("%q: got %q as %s, %v", text, got, enc, err)
		}
	}
}

func TestOutputAfterAMarkOfUTF16IsNotLost(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"\xff\xfeA\nEND\n", "\xfe\xffA\nEND\n", "\xff\xfea\x00\n\x00END\n", "\xff\xfea\x00\n\x00END!\n"} {
		if got := outputText([]byte(raw)); !strings.Contains(got, "END") {
			t.Errorf("%q became %q", raw, got)
		}
	}
	if got := outputText(append([]byte{0xFF, 0xFE}, utf16le("안녕\n")...)); got != "안녕\n" {
		t.Errorf("got %q", got)
	}
}

func TestCharacterThatTheEncodingLacksIsNamed(t *testing.T) {
	t.Parallel()
	_, err := encCP949.encode("가\n나 😀\n")
	if sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), "😀") || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v, want it to name the character and its line", err)
	}
}

func TestCutNeverSplitsACharacter(t *testing.T) {
	t.Parallel()
	for n := range 10 {
		if got := cutText("가나다", n); len(got) > n || strings.ToValidUTF8(got, "?") != got {
			t.Errorf("%d: got %q", n, got)
		}
	}
}

func TestDiffIsCutAtALineAndSaysSo(t *testing.T) {
	t.Parallel()
	diff := unifiedDiff("a.txt", "", strings.Repeat("a line\n", 100000))
	got := capDiff(diff, maxCardDiff)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(got) > maxCardDiff+200 || !strings.HasPrefix(lines[len(lines)-1], `\ The rest`) || lines[len(lines)-2] != "+a line" {
		t.Errorf("got %d bytes ending in %q", len(got), lines[len(lines)-2:])
	}
}

func TestCountsOfAChangeAreThoseOfItsLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after  string
		added, removed int
	}{
		{"", "a\nb", 2, 0}, {"a\nb\nc\n", "a\nX\nc\n", 1, 1}, {"a\n", "", 0, 1}, {"a\n", "a\n", 0, 0}, {"a", "a\n", 1, 1},
	} {
		if added, removed := countChanged(c.before, c.after); added != c.added || removed != c.removed {
			t.Errorf("%q to %q: got +%d -%d, want +%d -%d", c.before, c.after, added, removed, c.added, c.removed)
		}
	}
}

func TestSecretThatBeginsInTheLastPartOfALogIsMasked(t *testing.T) {
	t.Parallel()
	k := &Kernel{redact: security.NewRedactor()}
	const log = "before\ntoken=ghp_16C7e42F292c6912E7710c838347Ae178B4a\nafter\n"
	for at := range log {
		if got := k.maskedAfter([]byte(log[:at]), []byte(log[at:])); strings.Contains(got, "8347Ae178") || !strings.HasSuffix(got, log[max(at, len(log)-6):]) {
			t.Errorf("from %d: got %q", at, got)
		}
	}
	if got := k.maskedAfter([]byte("one\n"), []byte("two\n")); got != "two\n" {
		t.Errorf("got %q", got)
	}
}

package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"
)

// Words is a text for people in both languages of Oxios. As a string it is the
// English one, which models and logs read.
type Words struct {
	EN string `json:"en"`
	KO string `json:"ko,omitempty"` // "" where the English text does for both, as the name of a file
}

func (w Words) String() string { return w.EN }

// In returns the text in Korean or in English.
func (w Words) In(korean bool) string {
	if korean && w.KO != "" {
		return w.KO
	}
	return w.EN
}

// koreanOf holds the Korean formats by the English ones. It is built when the
// first sentence is needed: most starts of the program need none.
var koreanOf = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, part := range [][][2]string{
		koreanApp(), koreanData(), koreanFaces(), koreanKernel(), koreanFiles(), koreanModels(), koreanSecurity(), koreanStore(), koreanFrame(),
		koreanAttach(), koreanQuick(), koreanAgents(), koreanA2A(), koreanLimits(), koreanTask(),
		koreanPolicy(),
		koreanAudit(),
		koreanKeep(),
		koreanFree(),
		koreanUndo(),
		koreanGrants(),
		koreanIsolation(),
		koreanTaint(),
		koreanTools(),
		koreanAccess(),
		koreanKeys(),
		koreanTry(),
		koreanMemory(), koreanEmbed(),
		koreanSpace(),
		koreanCgroup(),
		koreanWeb(),
		koreanKnowledge(),
		koreanSkill(),
	} {
		for _, words := range part {
			all[words[0]] = words[1]
		}
	}
	return all
})

// Say makes the words of a format in both languages; the Korean stands in
// korean.go under the format.
func Say(format string, args ...any) Words {
	return Words{EN: fmt.Sprintf(format, args...), KO: inKorean(format, args)}
}

// Korean returns the Korean of a whole sentence, "" where nobody wrote it.
func Korean(en string) string { return koreanOf()[en] }

// inKorean formats args with the Korean of an English format, "" where nobody
// wrote it.
func inKorean(format string, args []any) string {
	ko, ok := koreanOf()[format]
	if !ok {
		if format != "%s" {
			return ""
		}
		ko = format // the sentence is the argument's
	}
	told := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case Words:
			told[i] = a.In(true)
		case error:
			told[i] = errorInKorean(a)
		default:
			told[i] = a
		}
	}
	return fmt.Sprintf(strings.ReplaceAll(ko, "%w", "%v"), told...)
}

// errorInKorean tells the errors that a person meets: our own, and what the
// system most often says.
func errorInKorean(err error) string {
	var own *Error
	if errors.As(err, &own) {
		message, _ := own.In(true)
		return message
	}
	var path *fs.PathError
	where := ""
	if errors.As(err, &path) {
		where = path.Path + ": "
	}
	for _, known := range []struct {
		err error
		ko  string
	}{
		{fs.ErrNotExist, "그런 파일이나 폴더가 없습니다"},
		{fs.ErrPermission, "권한이 없습니다"},
		{fs.ErrExist, "이미 있습니다"},
		{syscall.ENOSPC, "디스크에 남은 공간이 없습니다"},
		{syscall.EROFS, "읽기 전용 디스크입니다"},
		{syscall.ENOTDIR, "폴더가 아닙니다"},
		{syscall.EISDIR, "폴더입니다"},
		{syscall.ECONNREFUSED, "연결이 거부되었습니다"},
		{syscall.ETIMEDOUT, "시간이 초과되었습니다"},
	} {
		if errors.Is(err, known.err) {
			return where + known.ko
		}
	}
	return err.Error()
}

// Shorten cuts a text to n bytes, at a character, and marks the cut.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

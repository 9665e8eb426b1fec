package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestErrorIsToldInBothLanguages(t *testing.T) {
	t.Parallel()
	inner := Errorf(CodeDiskFull, "The disk is full: %q was not written.", "a.txt")
	for _, c := range []struct {
		err    *Error
		en, ko string
	}{
		{inner.WithHint("Try again."), "The disk is full: \"a.txt\" was not written. Try again.", "디스크가 가득 찼습니다. \"a.txt\"을(를) 쓰지 않았습니다. 다시 시도하세요."},
		{Errorf(CodeUnavailable, "config.toml cannot be read: %w.", &fs.PathError{Op: "open", Path: "/x", Err: fs.ErrPermission}), "config.toml cannot be read: open /x: permission denied.", "config.toml을 읽을 수 없습니다: /x: 권한이 없습니다."},
		{Errorf(CodeInternal, "It could not be recorded, so it was not done: %w.", fmt.Errorf("append: %w", inner)), "It could not be recorded, so it was not done: append: The disk is full: \"a.txt\" was not written.", "기록하지 못해서 하지 않았습니다: 디스크가 가득 찼습니다. \"a.txt\"을(를) 쓰지 않았습니다."},
		{Errorf(CodeInvalid, "nobody wrote this in Korean %d", 1), "nobody wrote this in Korean 1", "nobody wrote this in Korean 1"},
		{Errorf(CodeNotFound, "There is no %s %q.", Words{EN: "session", KO: "대화"}, "x"), `There is no session "x".`, `대화 "x"이(가) 없습니다.`},
	} {
		if got := c.err.Error(); got != c.en {
			t.Errorf("got %q, want %q", got, c.en)
		}
		if got := TextOf(c.err).In(true); got != c.ko {
			t.Errorf("got %q, want %q", got, c.ko)
		}
	}
	if err := Errorf(CodeInternal, "It was stopped.").WithCause(fs.ErrExist); !errors.Is(err, fs.ErrExist) || err.MessageKO == "" {
		t.Errorf("got %+v", err)
	}
}

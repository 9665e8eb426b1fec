package sys

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Code says what kind of failure an [Error] is. The text of a code is part of
// the interface: faces and scripts match on it.
type Code string

// The codes. Each one asks for a different reaction from the reader.
const (
	CodeInvalid       Code = "invalid"        // the request itself is wrong: correct it
	CodeNotFound      Code = "not_found"      // the thing named does not exist
	CodeForbidden     Code = "forbidden"      // the principal lacks the right; asking does not help
	CodeRefused       Code = "refused"        // policy refuses it for everybody (tier 3, outside every boundary)
	CodeDenied        Code = "denied"         // a person said no, or nobody answered in time
	CodeWaiting       Code = "waiting"        // an approval is needed and nobody can answer here
	CodeConflict      Code = "conflict"       // the world changed since the caller looked
	CodeBusy          Code = "busy"           // another process or run holds it: try again
	CodeUnavailable   Code = "unavailable"    // a part that is needed is missing or down
	CodeTimeout       Code = "timeout"        // it took longer than it may
	CodeCanceled      Code = "canceled"       // the caller, or a person, stopped it
	CodeTooLarge      Code = "too_large"      // over a size limit that the message names
	CodeBudget        Code = "budget"         // a limit on tokens, calls or money leaves too little
	CodeDiskFull      Code = "disk_full"      // nothing could be written
	CodeNewerDatabase Code = "newer_database" // the home was written by a newer Oxios
	CodeInternal      Code = "internal"       // a bug of ours

	// Failures of a model endpoint.
	CodeAuth          Code = "auth"           // the key was refused
	CodeQuota         Code = "quota"          // no credit, or a rate limit that does not end soon
	CodeRateLimit     Code = "rate_limit"     // too many requests; a retry may succeed
	CodeContextLength Code = "context_length" // the conversation does not fit the model
	CodeNetwork       Code = "network"        // the endpoint could not be reached
	CodeModelRefusal  Code = "model_refusal"  // the model or its filter declined to answer
	CodeUnknownModel  Code = "unknown_model"  // the endpoint does not know this model
	CodeStreamCut     Code = "stream_cut"     // the answer ended in the middle
	CodeProvider      Code = "provider"       // any other failure that the endpoint reported
)

// Error is a failure that a person or a model will read: what happened, and
// what to do about it. A model and a log read English; a person reads [Error.In].
type Error struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`              // one sentence: what happened, what was kept
	Hint      string `json:"hint,omitempty"`       // one sentence: what to do next
	MessageKO string `json:"message_ko,omitempty"` // the same in Korean, "" where nobody wrote it
	HintKO    string `json:"hint_ko,omitempty"`
	Err       error  `json:"-"` // the cause, for logs
}

// Error returns the message and, after it, the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " " + e.Hint
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an [Error] without a hint. A %w in the format becomes its cause.
// The Korean sentence stands in korean.go under the format; arguments that are
// [Words] or an Error bring their own.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: oneStop(err.Error()), MessageKO: oneStop(inKorean(format, args)), Err: errors.Unwrap(err)}
}

// oneStop takes the second full stop away from a sentence that ends in another
// one.
func oneStop(s string) string {
	if strings.HasSuffix(s, "..") && !strings.HasSuffix(s, "...") {
		return s[:len(s)-1]
	}
	return s
}

// WithHint returns a copy of e that says what to do next.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint, c.HintKO = fmt.Sprintf(format, args...), inKorean(format, args)
	return &c
}

// WithCause returns a copy of e with err as its cause, which is not shown.
func (e *Error) WithCause(err error) *Error {
	c := *e
	c.Err = err
	return &c
}

// In returns the message and the hint in Korean or in English. What nobody
// wrote in Korean stays English.
func (e *Error) In(korean bool) (message, hint string) {
	message, hint = e.Message, e.Hint
	if korean && e.MessageKO != "" {
		message = e.MessageKO
	}
	if korean && e.HintKO != "" {
		hint = e.HintKO
	}
	return message, hint
}

// Words returns the message and the hint in both languages.
func (e *Error) Words() (message, hint Words) {
	return Words{e.Message, e.MessageKO}, Words{e.Hint, e.HintKO}
}

// TextOf returns message and hint of err in one text, in both languages.
func TextOf(err error) Words {
	e := AsError(err)
	w := Words{EN: e.Error()}
	if e.MessageKO != "" {
		message, hint := e.In(true)
		w.KO = strings.TrimSpace(message + " " + hint)
	}
	return w
}

// AsError returns err as an [Error]: the first one in its chain, or a fitting
// code around it. It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Errorf(CodeCanceled, "It was stopped.").WithCause(err)
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(CodeTimeout, "It took too long and was ended.").WithCause(err)
	}
	return &Error{Code: CodeInternal, Message: err.Error(), Err: err}
}

// CodeOf returns the code of err, or "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

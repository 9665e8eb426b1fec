package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"

	"oxios/kernel/sys"
)

// Stream hands each item to emit, in order, until the items end (nil), or emit
// returns an error, which it returns. Its context must be canceled after that.
type Stream func(emit func(item any) error) error

// Dispatch makes the call named method, with args as a JSON array. It returns
// what the call returned; [Marshal] writes it. A panic becomes an error.
func Dispatch(ctx context.Context, h *Handle, method string, args json.RawMessage) (result any, err error) {
	fn, ok := calls[method]
	if !ok {
		return nil, unknown(method)
	}
	defer recovered(method, &err)
	return fn(ctx, h, args)
}

// IsStream reports whether method answers with many items: [Subscribe] starts
// it, [Dispatch] does not know it.
func IsStream(method string) bool {
	_, ok := streams[method]
	return ok
}

// Subscribe starts the stream named method. It ends with ctx.
func Subscribe(ctx context.Context, h *Handle, method string, args json.RawMessage) (s Stream, err error) {
	fn, ok := streams[method]
	if !ok {
		return nil, unknown(method)
	}
	defer recovered(method, &err)
	return fn(ctx, h, args)
}

// CallJSON is [Dispatch] for callers that have text alone: args is a JSON
// array, the result is JSON, and the text of an error is the JSON of a
// [sys.Error]. handle returns the kernel, or why there is none; nil and no
// reason mean that it is not there yet.
func CallJSON(ctx context.Context, handle func() (*Handle, error), method, args string) (result string, err error) {
	defer func() {
		if err != nil {
			result, err = "", textError{sys.AsError(err)}
		}
	}()
	defer recovered(method, &err)
	h, err := handle()
	if err != nil {
		return "", err
	}
	if h == nil {
		return "", sys.Errorf(sys.CodeUnavailable, "The kernel is still starting.").WithHint("Try again in a moment.")
	}
	v, err := Dispatch(ctx, h, method, json.RawMessage(args))
	if err != nil {
		return "", err
	}
	raw, err := Marshal(v)
	return string(raw), err
}

// textError says the whole of an error in its text, for a boundary that
// carries nothing else.
type textError struct{ err *sys.Error }

func (e textError) Error() string {
	b, err := Marshal(e.err)
	if err != nil {
		return `{"code":"internal","message":"The error could not be written."}`
	}
	return string(b)
}

func (e textError) Unwrap() error { return e.err }

func unknown(method string) error {
	e := sys.Errorf(sys.CodeInvalid, "This Oxios does not know the call %q.", method)
	return e.WithHint("It may be of another version: end every Oxios and start again.")
}

// recovered turns a panic into err. The stack goes to whoever logs the cause.
func recovered(method string, err *error) {
	if p := recover(); p != nil {
		told := sys.Errorf(sys.CodeInternal, "%s failed inside Oxios: %v. Nothing else was affected.", method, p)
		told.Err = panicError{string(debug.Stack())}
		*err = told
	}
}

type panicError struct{ stack string }

func (e panicError) Error() string { return e.stack }

// decode reads the elements of the JSON array args into pointers. It takes
// exactly as many as there are, and no field that the type does not have: a
// setting that is dropped in silence is worse than an error.
func decode(args json.RawMessage, into ...any) error {
	var list []json.RawMessage
	if len(bytes.TrimSpace(args)) > 0 {
		if err := json.Unmarshal(args, &list); err != nil {
			return sys.Errorf(sys.CodeInvalid, "The arguments are not a JSON array: %w", err)
		}
	}
	if len(list) != len(into) {
		return sys.Errorf(sys.CodeInvalid, "The call takes %d arguments and got %d.", len(into), len(list))
	}
	for i, raw := range list {
		raw = unquoted(raw, into[i])
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(into[i]); err != nil && !errors.Is(err, io.EOF) {
			return sys.Errorf(sys.CodeInvalid, "Argument %d cannot be read: %w", i+1, err)
		}
	}
	return nil
}

// unquoted takes the quotes from a 64-bit number: JavaScript, which cannot hold
// each of them, writes such numbers as text.
func unquoted(raw json.RawMessage, into any) json.RawMessage {
	switch into.(type) {
	case *uint64, *int64:
		return bytes.Trim(raw, `"`)
	}
	return raw
}

// each makes a [Stream] of a channel that its sender closes.
func each[T any](items <-chan T, err error) (Stream, error) {
	if err != nil {
		return nil, err
	}
	return func(emit func(any) error) error {
		for item := range items {
			if err := emit(item); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

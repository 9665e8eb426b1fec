package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"oxios/kernel/sys"
)

// wordReader is the word of the command line that makes this program a reader.
const wordReader = "@reader"

// What a reader may use. Whoever starts it holds it to that.
const (
	MaxMemory = 1 << 30          // bytes
	MaxTime   = 90 * time.Second // the first PDF has PDFium compiled in it
	MaxOutput = 16 << 20         // bytes that it says
	pagesTime = 30 * time.Second // for the pages of a PDF; what was read until then is kept
)

// Command is the command line of a reader: program, started with it, reads the
// file at path and calls it name. cache is a folder that it may write, see
// [readPDF].
func Command(program, path, name, cache string) []string {
	return []string{program, wordReader, path, name, cache}
}

// answer is what a reader says: one line of JSON.
type answer struct {
	Result Result     `json:"result"`
	Error  *sys.Error `json:"error,omitempty"`
}

// Main acts as a reader if the command line asks for it, and does not return
// then. main calls it before anything else; false means that this is an
// ordinary start.
func Main() bool {
	if len(os.Args) != 5 || os.Args[1] != wordReader {
		return false
	}
	debug.SetMemoryLimit(MaxMemory * 3 / 4)
	ctx, cancel := context.WithTimeout(context.Background(), pagesTime)
	defer cancel()
	r, err := Read(ctx, os.Args[2], os.Args[3], os.Args[4])
	if err := json.NewEncoder(os.Stdout).Encode(answer{r, sys.AsError(err)}); err != nil {
		fmt.Fprintln(os.Stderr, "oxios reader:", err)
		os.Exit(1)
	}
	os.Exit(0)
	return true
}

// TooSlow says that a file was not read within limit.
func TooSlow(name string, limit time.Duration) error {
	return sys.Errorf(sys.CodeTimeout, "%s could not be read within %s. It was not attached.", name, limit).
		WithHint("Attach a part of it, or save it again with another program.")
}

// Parse takes up what a reader said of the file that is called name.
func Parse(said []byte, name string) (Result, error) {
	var a answer
	if err := json.Unmarshal(said, &a); err != nil {
		return Result{}, sys.Errorf(sys.CodeInvalid, "%s could not be read: it ended the program that reads it. It was not attached.", name).
			WithHint("Save it again with another program, and attach that.").WithCause(err)
	}
	if a.Error != nil {
		return Result{}, a.Error
	}
	return a.Result, nil
}

// Read reads a file in this process. When ctx ends, the pages of a PDF that
// were read until then are the result.
func Read(ctx context.Context, path, name, cache string) (r Result, err error) {
	defer func() {
		if p := recover(); p != nil { // a parser that was misled
			r, err = Result{}, sys.Errorf(sys.CodeInvalid, "%s cannot be read: it is damaged. It was not attached.", name).
				WithHint("Save it again with another program, and attach that.").WithCause(fmt.Errorf("panic: %v", p))
		}
	}()
	f, info, err := sys.OpenRegular(path)
	if err != nil {
		return Result{}, err
	}
	defer f.Close()
	kind, err := Sniff(f, info.Size())
	if err != nil {
		return Result{}, err
	}
	switch kind {
	case Image:
		return readImage(f, info.Size(), name)
	case PDF:
		return readPDF(ctx, f, name, cache)
	case Word:
		return readWord(f, info.Size(), name)
	}
	return Result{}, errors.New("a reader was asked for a kind of file that it does not read")
}

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// policyRow is a line of a batch. What a command needs is a pointer, so that a
// line which lacks it is told from one that has it empty.
type policyRow struct {
	ID       json.RawMessage        `json:"id"`
	Cmd      *string                `json:"cmd"`
	Shell    string                 `json:"shell"`
	URL      *string                `json:"url"`
	DNS      kernel.PolicyDNS       `json:"dns"`
	Redirect kernel.PolicyRedirects `json:"redirect"`
	Path     *string                `json:"path"`
	Op       string                 `json:"op"`
	Kind     string                 `json:"kind"`
	FS       []string               `json:"fs"`
	Target   string                 `json:"target"`
	Expect   string                 `json:"expect"`
	Text     *string                `json:"text"`
}

type redactedText struct {
	ID   json.RawMessage `json:"id,omitempty"`
	Text string          `json:"text"`
}

// maxBatchLine is the longest line of a batch, in bytes.
const maxBatchLine = 8 << 20

func errLacks(field string) error { return fmt.Errorf("%q is missing", field) }

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// batch judges a file line by line, and holds one line at a time. A line that
// cannot be read is told on standard error with its number; the rest goes on,
// and the exit code says that there was one.
func (c *console) batch(cmd *cobra.Command, args []string, file string, judge func(context.Context, policyRow) (any, error)) error {
	if len(args) > 0 {
		return usage(c.fail(sys.CodeInvalid, c.t("Give either an argument or --batch.", "인자와 --batch 중 하나만 쓰세요."), ""))
	}
	from := c.in
	if file != "-" {
		f, err := c.reading(file)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // it was only read
		from = f
	}
	in, out := bufio.NewReaderSize(from, 64<<10), bufio.NewWriter(c.out)
	bad := 0
	for number := 1; ; number++ {
		if err := cmd.Context().Err(); err != nil {
			return errors.Join(err, out.Flush())
		}
		line, err := readLine(in)
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			err = judgeLine(cmd.Context(), line, out, judge)
		}
		switch {
		case errors.Is(err, io.EOF):
			if err := out.Flush(); err != nil || bad == 0 {
				return err
			}
			return exits(exitFailed)
		case errors.Is(err, errWrite):
			return err
		case errors.Is(err, errRead):
			return errors.Join(err, out.Flush())
		case err != nil:
			bad++
			c.note(c.t("Line %d: %s.", "%d번째 줄: %s."), number, safe(err.Error()))
		}
		if in.Buffered() == 0 { // whoever writes the lines one by one gets each answer
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

var (
	errRead  = errors.New("read the batch")
	errWrite = errors.New("write the answer")
	errLong  = fmt.Errorf("it is longer than %d MB", maxBatchLine>>20)
)

// readLine returns the next line. One that is too long is passed over.
func readLine(in *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > maxBatchLine {
			line, long = nil, true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0 && !long:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%w: %w", errRead, err)
		case long:
			return nil, errLong
		}
		return line, nil
	}
}

func judgeLine(ctx context.Context, line []byte, out io.Writer, judge func(context.Context, policyRow) (any, error)) error {
	var row policyRow
	if err := json.Unmarshal(line, &row); err != nil {
		return err
	}
	v, err := judge(ctx, row)
	if err != nil {
		return err
	}
	raw, err := remote.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(oneJSONLine(raw), '\n')); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// trees reads the named trees beside a batch of paths, if there are any.
func (c *console) trees(batch string) (map[string][]string, error) {
	if batch == "-" {
		return nil, nil
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(batch), "path_fs_trees.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return kernel.PathTrees(raw)
}

// policyPlace is where policy is asked from. A batch speaks of no folder of
// this machine, so it gets a made-up one.
func (c *console) policyPlace(folder string, batch bool) (kernel.PolicyPlace, error) {
	if batch && folder == "" {
		return kernel.PolicyPlace{Folder: "/home/person/project", Home: "/home/person", OxiosHome: "/home/person/.oxios"}, nil
	}
	wd, err := c.getwd()
	if err != nil && !filepath.IsAbs(folder) {
		return kernel.PolicyPlace{}, err
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(wd, folder)
	}
	home, _ := os.UserHomeDir() // without one, what depends on it lies outside
	return kernel.PolicyPlace{Folder: folder, Home: home, OxiosHome: c.home}, nil
}

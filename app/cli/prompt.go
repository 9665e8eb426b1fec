package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
	"oxios/kernel/tools"
)

func (c *console) promptCommand() *cobra.Command {
	return c.group("prompt", "What a model is given", "모델이 받는 프롬프트", c.promptShow())
}

func (c *console) promptShow() *cobra.Command {
	var m kernel.Submit
	cmd := &cobra.Command{
		Use: "show TEXT", Short: c.t("Show the exact prompt that a message would get, without sending it", "메시지를 보내지 않고, 받게 될 프롬프트를 그대로 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			m.Text = args[0]
			if m.Folder == "" {
				dir, err := c.getwd()
				if err != nil {
					return err
				}
				m.Folder = dir
			}
			v, err := l.Agents.Prompt(ctx, m)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			c.printf("%s", safe(v.Prompt))
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVar(&m.SessionID, "session", "", c.t("a conversation's id", "대화의 ID"))
	f.StringVar(&m.Folder, "folder", "", c.t("the folder; this one by default", "폴더. 기본은 현재 폴더"))
	f.StringVar(&m.Mode, "mode", "", c.t("ask, guarded or auto", "ask, guarded 또는 auto"))
	f.StringVar(&m.Role, "role", "", c.t("what the agent may do at most", "에이전트가 할 수 있는 최대 범위"))
	return c.withJSON(cmd)
}

// toolsFind finds tools by what somebody wants to do.
func (c *console) toolsFind() *cobra.Command {
	var catalogue, batch string
	var k int
	cmd := &cobra.Command{
		Use: "find WORDS", Short: c.t("Find the tools for a job, in Korean and in English", "할 일에 맞는 도구를 한국어와 영어로 찾습니다"), Args: c.args(0, 1),
		Long: c.t("Finds the tools for a job. --catalog looks among others instead: a JSON object of names and descriptions. With --batch each\nline of a file is a search, {\"query\"}, and each line of the answer has the names of what fits, {\"names\"}, in the same order.",
			"할 일에 맞는 도구를 찾습니다. --catalog로는 이름과 설명의 JSON 객체에서 찾고, --batch로는 파일의 줄마다 {\"query\"}를 찾아\n같은 순서로 줄마다 {\"names\"}를 답합니다."),
		RunE: func(_ *cobra.Command, args []string) error {
			all := tools.Catalogue()
			if catalogue != "" {
				raw, err := c.readInput(catalogue)
				if err != nil {
					return err
				}
				var named map[string]string
				if err := json.Unmarshal(raw, &named); err != nil {
					return c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%s is no JSON object of names and descriptions: %v.", "%s은(는) 이름과 설명의 JSON 객체가 아닙니다: %v."), catalogue, err), "")
				}
				all = nil
				for name, about := range named {
					all = append(all, kernel.ToolInfo{Name: name, Description: about})
				}
			}
			find := tools.NewRetriever(all)
			if batch != "" {
				lines, err := readLines[struct {
					Query string `json:"query"`
				}](c, batch)
				if err != nil {
					return err
				}
				for _, q := range lines {
					if err := c.writeJSON(map[string][]string{"names": find.Find(q.Query, k)}); err != nil {
						return err
					}
				}
				return nil
			}
			if len(args) == 0 {
				return usage(c.fail(sys.CodeInvalid, c.t("There is nothing to look for.", "찾을 말이 없습니다."), ""))
			}
			names := find.Find(args[0], k)
			if c.json {
				return c.writeJSON(names)
			}
			if len(names) == 0 {
				c.note("%s", c.t("No tool fits.", "맞는 도구가 없습니다."))
			}
			for _, n := range names {
				c.printf("%s", oneLine(n))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&catalogue, "catalog", "", c.t("look among these instead: a JSON file of names and descriptions", "이름과 설명의 JSON 파일에서 찾습니다"))
	f.StringVar(&batch, "batch", "", c.t("search for each line of this file; - for standard input", "이 파일의 줄마다 찾습니다. -는 표준 입력"))
	f.IntVarP(&k, "k", "k", 5, c.t("how many at most", "최대 개수"))
	return c.withJSON(cmd)
}

// maxInput is the most that a command reads of a file of lines.
const maxInput = 1 << 30

// reading opens a file that the person named; one that begins with no / lies in the
// folder in which they are.
func (c *console) reading(path string) (*os.File, error) {
	whole, err := c.absolute(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(whole)
	switch info, serr := os.Stat(whole); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, c.fail(sys.CodeNotFound, fmt.Sprintf(c.t("There is no file %s.", "%s 파일이 없습니다."), path), c.t("Check its name and folder.", "이름과 폴더를 확인하세요."))
	case errors.Is(err, fs.ErrPermission):
		return nil, c.fail(sys.CodeForbidden, fmt.Sprintf(c.t("You may not read %s.", "%s을(를) 읽을 권한이 없습니다."), path), c.t("`ls -l` shows who may.", "`ls -l`로 누가 읽을 수 있는지 볼 수 있습니다."))
	case err != nil:
		return nil, c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("%s cannot be read: %v.", "%s을(를) 읽을 수 없습니다: %v."), path, err), "")
	case serr == nil && info.IsDir():
		_ = f.Close()
		return nil, c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%s is a folder.", "%s은(는) 폴더입니다."), path), c.t("Name a file in it.", "그 안의 파일을 지정하세요."))
	}
	return f, nil
}

// readInput reads a whole file; - is standard input.
func (c *console) readInput(path string) ([]byte, error) {
	in := c.in
	if path != "-" {
		f, err := c.reading(path)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return nil, c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("%s cannot be read: %v.", "%s을(를) 읽을 수 없습니다: %v."), path, err), "")
	}
	return sys.WithoutMark(raw), nil
}

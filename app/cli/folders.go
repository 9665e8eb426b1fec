package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

// foldersCommand is about which folders the person trusts: agents follow what
// AGENTS.md or CLAUDE.md says there.
func (c *console) foldersCommand() *cobra.Command {
	list := c.withJSON(&cobra.Command{
		Use: "list", Short: c.t("List the folders that you trust, or do not", "신뢰하는 폴더와 신뢰하지 않는 폴더를 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listFolders(cmd.Context()) },
	})
	set := func(use, en, ko, trust string) *cobra.Command {
		return &cobra.Command{
			Use: use + " [folder]", Short: c.t(en, ko), Args: c.args(0, 1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.trustFolder(cmd.Context(), strings.Join(args, ""), trust)
			},
		}
	}
	g := c.group("folders", "Say which folders you trust", "신뢰하는 폴더를 정합니다",
		list,
		set("trust", "Have agents follow its AGENTS.md or CLAUDE.md", "그 폴더의 AGENTS.md나 CLAUDE.md를 에이전트가 따르게 합니다", kernel.FolderTrusted),
		set("decline", "Work in it without following them", "따르지 않고 일하게 합니다", kernel.FolderDeclined),
		set("forget", "Be asked about it again", "다시 물어보게 합니다", ""),
	)
	g.Long = c.t("Agents follow the AGENTS.md, else the CLAUDE.md, of a folder that you trust, as if you had written it.\nTrust covers the folders inside. Without a name it is the current folder.",
		"신뢰하는 폴더의 AGENTS.md, 없으면 CLAUDE.md를 에이전트가 직접 쓴 지시처럼 따릅니다.\n신뢰는 안에 있는 폴더에도 적용됩니다. 이름이 없으면 현재 폴더입니다.")
	return g
}

func (c *console) listFolders(ctx context.Context) error {
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	folders, err := l.Security.Folders(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(folders)
	}
	rows := [][]string{{c.t("FOLDER", "폴더"), c.t("TRUST", "신뢰"), c.t("SINCE", "시점")}}
	for _, f := range folders {
		rows = append(rows, []string{safe(f.Display), c.trustText(f.Trust), moment(f.At)})
	}
	return table(c.out, rows)
}

func (c *console) trustText(trust string) string {
	switch trust {
	case kernel.FolderTrusted:
		return c.t("trusted", "신뢰함")
	case kernel.FolderDeclined:
		return c.t("not trusted", "신뢰하지 않음")
	}
	return c.t("not asked yet", "아직 묻지 않음")
}

func (c *console) trustFolder(ctx context.Context, named, trust string) error {
	folder, err := c.workFolder(named)
	if err != nil {
		return err
	}
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	f, err := l.Security.TrustFolder(ctx, folder, trust)
	if err != nil {
		return err
	}
	c.printf("%s: %s", safe(f.Display), c.trustText(f.Trust))
	if in := f.Instructions; trust == kernel.FolderTrusted && in != nil && in.Withheld {
		return c.followInstructions(ctx, l, folder, *in)
	}
	return nil
}

// followInstructions shows how instructions differ from what was followed before, and
// asks whether they are to be followed.
func (c *console) followInstructions(ctx context.Context, l *link, folder string, in kernel.Instructions) error {
	c.printf("%s", safe(c.either(in.Problem, in.ProblemKO)))
	for line := range strings.Lines(in.Change) {
		c.printf("%s", safe(strings.TrimRight(line, "\n")))
	}
	if !c.terminal(c.in) || !c.terminal(c.err) {
		c.note(c.t("%s is not followed: run this on a terminal to say that you have seen the difference.", "%s을(를) 따르지 않습니다. 차이를 확인했다고 답하려면 터미널에서 실행하세요."), in.Name)
		return nil
	}
	fmt.Fprintf(c.err, c.t("Follow %s as it is now?", "%s을(를) 지금 내용대로 따를까요?")+" [y/N] ", in.Name)
	<-c.after(still)
	c.forget()
	line, _ := bufio.NewReader(c.in).ReadString('\n') // an end without a line is no
	if !yes(line) {
		return nil
	}
	_, err := l.Security.FollowInstructions(ctx, folder, in.Hash)
	return err
}

// meet asks about a folder that the person has said nothing of, and tells what
// its instructions mean for the run. Without a terminal nobody is asked, and
// they are not followed.
func (c *console) meet(ctx context.Context, l *link, folder string, trust, canAsk bool) error {
	f, err := l.Exec.Folder(ctx, folder)
	if err != nil || f.Refused {
		return nil // the run itself says why it cannot work there
	}
	switch {
	case trust && f.Trust != kernel.FolderTrusted:
		f, err = l.Security.TrustFolder(ctx, folder, kernel.FolderTrusted)
	case f.Trust == "" && canAsk:
		f, err = l.Security.TrustFolder(ctx, folder, c.askTrust(f))
	}
	if err != nil || f.Instructions == nil {
		return err
	}
	switch in := f.Instructions; {
	case f.Trust != kernel.FolderTrusted:
		c.note(c.t("%s is not followed: you have not said that you trust this folder. `oxios folders trust` says it.", "이 폴더를 신뢰한다고 정하지 않아 %s을(를) 따르지 않습니다. 신뢰하려면 `oxios folders trust`를 실행하세요."), in.Name)
	case in.Withheld:
		c.note(c.t("%s is not followed until you have seen what changed in it: `oxios folders trust` shows it.", "%s에서 달라진 내용을 확인하실 때까지 따르지 않습니다. `oxios folders trust`로 볼 수 있습니다."), in.Name)
	case in.Problem != "":
		c.note(c.t("%s was not loaded: %s", "%s을(를) 읽어 들이지 못했습니다: %s"), in.Name, c.either(in.Problem, in.ProblemKO))
	default:
		c.note(c.t("Instructions: %s (%s)", "지시: %s (%s)"), in.Name, sizeText(in.Bytes))
	}
	return nil
}

func (c *console) askTrust(f kernel.Folder) string {
	what := c.t("Do you trust the files in %s? Agents then follow its AGENTS.md or CLAUDE.md as if you had written it.", "%s에 있는 파일을 신뢰하시겠습니까? 그러면 에이전트가 AGENTS.md나 CLAUDE.md를 직접 쓴 지시처럼 따릅니다.")
	fmt.Fprintf(c.err, what+" [y/N] ", safe(f.Display))
	<-c.after(still)
	c.forget()
	line, _ := bufio.NewReader(c.in).ReadString('\n') // an end without a line is no
	if yes(line) {
		return kernel.FolderTrusted
	}
	c.note("%s", c.t("It works there without them. `oxios folders trust` changes that.", "따르지 않고 일합니다. 바꾸려면 `oxios folders trust`를 실행하세요."))
	return kernel.FolderDeclined
}

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) spacesCommand() *cobra.Command {
	return c.group("spaces", "Contexts of work, each with its conversations, folder and memories", "대화, 폴더, 기억을 따로 갖는 일의 공간",
		c.spacesList(), c.spacesShow(), c.spacesCreate(), c.spacesSet(), c.spacesActivate(), c.spacesArchive(), c.spacesRestore(), c.spacesArchiveStale(), c.spacesRemove(),
		c.spacesMove(), c.spacesDetect(), c.spacesProposals(), c.spacesAnswer("accept", true), c.spacesAnswer("decline", false), c.spacesMerge(), c.spacesUnmerge())
}

func (c *console) spacesList() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "list", Short: c.t("List the spaces, the one that was used last first", "공간을 최근에 쓴 순으로 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			items, err := l.Space.List(ctx)
			if err != nil {
				return err
			}
			head := []string{"ID", c.t("NAME", "이름"), c.t("CONVERSATIONS", "대화"), c.t("MEMORIES", "기억"), c.t("USED", "사용"), ""}
			return list(c, items, c.t("There is only the default space.", "기본 공간만 있습니다."), head, func(s kernel.SpaceInfo) []string {
				state := ""
				switch {
				case s.Active:
					state = c.t("active", "활성")
				case s.ArchivedAt != nil:
					state = c.t("archived", "보관됨")
				}
				return []string{tail(s.ID), strings.TrimSpace(s.Emoji + " " + s.Name), fmt.Sprint(s.Sessions), fmt.Sprint(s.Memories), ago(s.UsedAt), state}
			})
		}),
	})
}

func (c *console) spacesShow() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "show NAME", Short: c.t("Show a space with its settings and what it learned", "공간의 설정과 배운 것을 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := l.Space.Get(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			c.showSpace(v)
			return nil
		}),
	})
}

func (c *console) showSpace(v kernel.SpaceView) {
	s := v.Space
	if v.Tag == "" {
		v.Tag = c.t("The default space", "기본 공간")
	}
	c.printf("%s", safe(v.Tag))
	line := func(en, ko, value string) {
		if value != "" {
			c.printf("  %s %s", c.t(en, ko), oneLine(value))
		}
	}
	line("Id:", "ID:", s.ID)
	line("Folder:", "폴더:", v.Folder)
	line("Words:", "단어:", strings.Join(s.Words, ", "))
	line("Paths:", "경로:", strings.Join(s.Paths, ", "))
	line("Learned:", "배운 말:", strings.Join(v.Learned, ", "))
	line("Instructions:", "지침:", s.Instructions)
	line("Model:", "모델:", strings.Trim(s.Provider+"/"+s.Model, "/"))
	line("Mode:", "모드:", s.Mode)
	line("Role:", "역할:", s.Role)
	line("Conversations:", "대화:", fmt.Sprint(s.Sessions))
	line("Memories:", "기억:", fmt.Sprint(s.Memories))
	if s.Shared {
		line("Shared:", "공유:", c.t("agents of other spaces get its memories", "다른 공간의 에이전트도 기억을 받습니다"))
	}
	if s.Active {
		line("Active:", "활성:", c.t("new conversations begin here", "새 대화가 여기서 시작됩니다"))
	}
	if s.ArchivedAt != nil {
		line("Archived:", "보관:", s.ArchivedAt.Local().Format("2006-01-02"))
	}
	if v.Gone {
		c.note(c.t("The folder is not there any more. Bring it back, or choose another one with `oxios spaces set --folder`.", "폴더가 이제 없습니다. 되돌리거나 `oxios spaces set --folder`로 다른 폴더를 고르세요."))
	}
	if v.MergeID != "" {
		c.note(c.t("It was merged into another space: `oxios spaces unmerge` undoes that.", "다른 공간에 합쳐졌습니다. `oxios spaces unmerge`로 되돌립니다."))
	}
}

// spaceFlags are the settings of a space.
func (c *console) spaceFlags(cmd *cobra.Command, in *kernel.SpaceInput) *cobra.Command {
	f := cmd.Flags()
	f.StringVar(&in.Emoji, "emoji", "", c.t("the `emoji` in front of its name", "이름 앞의 `이모지`"))
	f.StringVar(&in.Folder, "folder", "", c.t("the `folder` that its conversations work in; its own in the home without one", "대화가 일할 `폴더`. 없으면 데이터 폴더 안의 자기 폴더"))
	f.StringSliceVar(&in.Words, "words", nil, c.t("tags and key `words`, with commas between them", "쉼표로 나눈 태그와 `단어`"))
	f.StringSliceVar(&in.Paths, "paths", nil, c.t("folders that belong to it, with commas between them", "속하는 폴더. 쉼표로 나눕니다"))
	f.StringVar(&in.Instructions, "instructions", "", c.t("what all its agents are told", "그 공간의 에이전트에게 주는 지침"))
	f.StringVar(&in.Provider, "provider", "", c.t("the provider of new conversations", "새 대화의 제공자"))
	f.StringVar(&in.Model, "model", "", c.t("the model of new conversations", "새 대화의 모델"))
	f.StringVar(&in.Mode, "mode", "", c.t("ask, guarded or auto", "ask, guarded 또는 auto"))
	f.StringVar(&in.Role, "role", "", c.t("what its agents may do at most", "에이전트가 할 수 있는 최대 범위"))
	f.BoolVar(&in.Shared, "shared", false, c.t("give its memories to agents of other spaces that ask about them; without it they are told its name alone", "기억을 다른 공간의 에이전트에게도 줍니다. 없으면 공간 이름만 알립니다"))
	return cmd
}

// here makes the folders of flags absolute, as they are meant in the current one.
func (c *console) here(paths ...*string) error {
	for _, p := range paths {
		if *p == "" || filepath.IsAbs(*p) || strings.HasPrefix(*p, "~") {
			continue
		}
		abs, err := c.workFolder(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	return nil
}

func (c *console) spacesCreate() *cobra.Command {
	var in kernel.SpaceInput
	return c.withJSON(c.spaceFlags(&cobra.Command{
		Use: "create NAME", Short: c.t("Make a space", "공간을 만듭니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			in.Name = args[0]
			if err := c.here(&in.Folder); err != nil {
				return err
			}
			for i := range in.Paths {
				if err := c.here(&in.Paths[i]); err != nil {
					return err
				}
			}
			s, err := l.Space.Create(ctx, in)
			if err != nil {
				return err
			}
			return c.saidOfSpace(s, c.t("made.", "만들었습니다."))
		}),
	}, &in))
}

func (c *console) spacesSet() *cobra.Command {
	var in kernel.SpaceInput
	var name string
	cmd := c.spaceFlags(&cobra.Command{Use: "set NAME", Short: c.t("Change settings of a space", "공간의 설정을 바꿉니다"), Args: c.args(1, 1)}, &in)
	cmd.Flags().StringVar(&name, "name", "", c.t("its new `name`", "새 `이름`"))
	cmd.RunE = c.linked(func(ctx context.Context, l *link, args []string) error {
		var p kernel.SpacePatch
		if err := c.here(&in.Folder); err != nil {
			return err
		}
		for i := range in.Paths {
			if err := c.here(&in.Paths[i]); err != nil {
				return err
			}
		}
		changed := false
		for flag, f := range map[string]struct {
			to   **string
			from *string
		}{
			"name": {&p.Name, &name}, "emoji": {&p.Emoji, &in.Emoji}, "folder": {&p.Folder, &in.Folder}, "instructions": {&p.Instructions, &in.Instructions},
			"provider": {&p.Provider, &in.Provider}, "model": {&p.Model, &in.Model}, "mode": {&p.Mode, &in.Mode}, "role": {&p.Role, &in.Role},
		} {
			if cmd.Flags().Changed(flag) {
				*f.to, changed = f.from, true
			}
		}
		if cmd.Flags().Changed("words") {
			p.Words, changed = &in.Words, true
		}
		if cmd.Flags().Changed("paths") {
			p.Paths, changed = &in.Paths, true
		}
		if cmd.Flags().Changed("shared") {
			p.Shared, changed = &in.Shared, true
		}
		if !changed {
			return usage(c.fail(sys.CodeInvalid, c.t("There is nothing to change.", "바꿀 것이 없습니다."), c.t("Name a setting, as --words.", "--words처럼 설정을 정해 주세요.")))
		}
		s, err := l.Space.Update(ctx, args[0], p)
		if err != nil {
			return err
		}
		return c.saidOfSpace(s, c.t("changed. Conversations that it has stay as they are.", "바꿨습니다. 이미 있는 대화는 그대로입니다."))
	})
	return c.withJSON(cmd)
}

func (c *console) saidOfSpace(s kernel.SpaceInfo, what string) error {
	if c.json {
		return c.writeJSON(s)
	}
	c.printf("%s: %s", safe(s.Name), what)
	return nil
}

func (c *console) spacesActivate() *cobra.Command {
	none := false
	cmd := &cobra.Command{
		Use: "activate [NAME]", Short: c.t("Begin new conversations in a space", "새 대화를 한 공간에서 시작합니다"), Args: c.args(0, 1),
		Long: c.t("Begins new conversations in a space, until another one is activated, or none with --none.\nA path, a tag or a word of another space in the first message, a folder of another space, and --space go first.",
			"다른 공간을 활성화하거나 --none으로 끌 때까지 새 대화를 이 공간에서 시작합니다.\n첫 메시지에 있는 다른 공간의 경로, 태그, 단어와 다른 공간의 폴더, --space가 먼저입니다."),
	}
	cmd.Flags().BoolVar(&none, "none", false, c.t("activate no space: new conversations find theirs", "활성 공간을 끕니다. 새 대화가 공간을 찾습니다"))
	cmd.RunE = c.linked(func(ctx context.Context, l *link, args []string) error {
		if none == (len(args) == 1) {
			return usage(c.fail(sys.CodeInvalid, c.t("Name a space, or say --none.", "공간 이름이나 --none 중 하나를 쓰세요."), c.t("`oxios spaces list` shows the spaces.", "`oxios spaces list`로 공간을 봅니다.")))
		}
		s, err := l.Space.Activate(ctx, strings.Join(args, ""))
		if err != nil {
			return err
		}
		if s.ID != "" || c.json {
			return c.saidOfSpace(s, c.t("active. New conversations begin here.", "활성화했습니다. 새 대화가 여기서 시작됩니다."))
		}
		c.printf("%s", c.t("No space is active. New conversations find theirs.", "활성 공간이 없습니다. 새 대화가 공간을 찾습니다."))
		return nil
	})
	return c.withJSON(cmd)
}

func (c *console) spacesArchive() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "archive NAME", Short: c.t("Take a space out of sight; what is in it stays", "공간을 보관합니다. 들어 있는 것은 그대로입니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			s, err := l.Space.Archive(ctx, args[0])
			if err != nil {
				return err
			}
			return c.saidOfSpace(s, c.t("archived.", "보관했습니다."))
		}),
	})
}

func (c *console) spacesRestore() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "restore NAME", Short: c.t("Bring an archived space back", "보관한 공간을 되살립니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			s, err := l.Space.Restore(ctx, args[0])
			if err != nil {
				return err
			}
			return c.saidOfSpace(s, c.t("restored.", "되살렸습니다."))
		}),
	})
}

func (c *console) spacesArchiveStale() *cobra.Command {
	days := 90
	cmd := &cobra.Command{
		Use: "archive-stale", Short: c.t("Archive the spaces that nobody wrote in for long", "오래 쓰지 않은 공간을 보관합니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			all, err := l.Space.ArchiveStale(ctx, days)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(all)
			}
			for _, s := range all {
				if err := c.saidOfSpace(s, c.t("archived.", "보관했습니다.")); err != nil {
					return err
				}
			}
			if len(all) == 0 {
				c.note(c.t("No space is that old.", "그만큼 오래된 공간이 없습니다."))
			}
			return nil
		}),
	}
	cmd.Flags().IntVar(&days, "days", days, c.t("for so many `days`", "이 `일수` 동안"))
	return c.withJSON(cmd)
}

func (c *console) spacesRemove() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "remove NAME", Short: c.t("Delete an empty space", "빈 공간을 지웁니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if err := l.Space.Remove(ctx, args[0]); err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(map[string]string{"removed": args[0]})
			}
			c.printf("%s: %s", safe(args[0]), c.t("deleted.", "지웠습니다."))
			return nil
		}),
	})
}

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) memoryCommand() *cobra.Command {
	return c.group("memory", "What agents remember", "에이전트가 기억하는 것",
		c.memoryAdd(), c.memoryList(), c.memorySearch(), c.memoryShow(), c.memoryPin("pin", true), c.memoryPin("unpin", false),
		c.memoryForget(), c.memoryExtract(), c.memoryCurate(), c.memoryImport(), c.memoryExport(), c.memoryStats(), c.memoryEmbedder(), c.memoryRebuild())
}

// spaceFlag adds --space to a command; "" and "default" are the default space.
func (c *console) spaceFlag(cmd *cobra.Command, name *string) *cobra.Command {
	cmd.Flags().StringVar(name, "space", "", c.t("the space, by its name", "공간의 이름"))
	return cmd
}

// spaceID returns the id of the space with this name.
func (c *console) spaceID(ctx context.Context, l *link, name string) (string, error) {
	if name == "" || strings.EqualFold(name, "default") {
		return "", nil
	}
	v, err := l.Space.Get(ctx, name)
	return v.Space.ID, err
}

func (c *console) memoryAdd() *cobra.Command {
	var in kernel.MemoryInput
	var space string
	cmd := &cobra.Command{
		Use: "add TEXT", Short: c.t("Remember a fact or an episode", "사실이나 일화를 기억합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) (err error) {
			in.Text = args[0]
			if in.Space, err = c.spaceID(ctx, l, space); err != nil {
				return err
			}
			m, err := l.Memory.Remember(ctx, in)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(m)
			}
			c.printf("%s: %s", tail(m.ID), c.t("remembered.", "기억했습니다."))
			return nil
		}),
	}
	cmd.Flags().StringVar(&in.Kind, "type", "fact", c.t("fact or episode", "fact 또는 episode"))
	cmd.Flags().StringVar(&in.Key, "key", "", c.t("what the fact is about: it replaces the one about the same", "무엇에 대한 사실인지: 같은 것에 대한 이전 사실을 대신합니다"))
	return c.withJSON(c.spaceFlag(cmd, &space))
}

func (c *console) memoryRow(m kernel.Memory) []string {
	mark := ""
	if m.Pinned {
		mark = "*"
	}
	return []string{tail(m.ID) + mark, m.Kind, m.SaidAt.Local().Format("2006-01-02"), fmt.Sprint(m.Uses), short(m.Text, 90)}
}

func (c *console) memoryHead() []string {
	return []string{"ID", c.t("TYPE", "종류"), c.t("DATE", "날짜"), c.t("USED", "사용"), c.t("TEXT", "내용")}
}

func (c *console) memoryList() *cobra.Command {
	var q kernel.MemoryQuery
	var space string
	cmd := &cobra.Command{
		Use: "list", Short: c.t("List what is remembered, the newest first", "기억을 최근 순으로 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) (err error) {
			if q.Space, err = c.spaceID(ctx, l, space); err != nil {
				return err
			}
			items, err := l.Memory.List(ctx, q)
			if err != nil {
				return err
			}
			return list(c, items, c.t("Nothing is remembered.", "기억이 없습니다."), c.memoryHead(), c.memoryRow)
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&q.Every, "all", false, c.t("of all spaces", "모든 공간의 기억을 봅니다"))
	f.StringVar(&q.Kind, "type", "", c.t("fact, episode, session or conversation", "fact, episode, session 또는 conversation"))
	f.BoolVar(&q.Pinned, "pinned", false, c.t("only pinned ones", "고정한 것만"))
	f.BoolVar(&q.Replaced, "replaced", false, c.t("those that newer ones replaced", "새 기억이 대신한 것을 봅니다"))
	f.IntVar(&q.Limit, "limit", 100, c.t("how many at most", "최대 개수"))
	return c.withJSON(c.spaceFlag(cmd, &space))
}

func (c *console) memorySearch() *cobra.Command {
	var s kernel.MemorySearch
	var space, batch string
	cmd := &cobra.Command{
		Use: "search WORDS", Short: c.t("Search what is remembered, in Korean and in English", "기억을 한국어와 영어로 찾습니다"), Args: c.args(0, 1),
		Long: c.t("Search what is remembered. With --batch each line of a file is a search, {\"query\", \"space\", \"k\"}, and each line of\nthe answer has the ids of what fits, {\"ids\"}, in the same order.",
			"기억을 찾습니다. --batch로는 파일의 줄마다 {\"query\", \"space\", \"k\"}를 찾고, 같은 순서로 줄마다 {\"ids\"}를 답합니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) (err error) {
			if batch != "" {
				return c.searchBatch(ctx, l, batch)
			}
			if len(args) == 0 {
				return usage(c.fail(sys.CodeInvalid, c.t("There is nothing to look for.", "찾을 말이 없습니다."), ""))
			}
			if s.Space, err = c.spaceID(ctx, l, space); err != nil {
				return err
			}
			s.Text, s.Least = args[0], kernel.MemoryLeast
			items, err := l.Memory.Search(ctx, s)
			if err != nil {
				return err
			}
			return list(c, items, c.t("Nothing that is remembered fits.", "맞는 기억이 없습니다."), c.memoryHead(), func(f kernel.MemoryFound) []string { return c.memoryRow(f.Memory) })
		}),
	}
	f := cmd.Flags()
	f.StringVar(&s.Kind, "type", "", c.t("fact, episode, session or conversation", "fact, episode, session 또는 conversation"))
	f.IntVarP(&s.K, "k", "k", 10, c.t("how many at most", "최대 개수"))
	f.StringVar(&batch, "batch", "", c.t("search for each line of this file; - for standard input", "이 파일의 줄마다 찾습니다. -는 표준 입력"))
	return c.withJSON(c.spaceFlag(cmd, &space))
}

// perCall is how many searches or memories go in one call.
const perCall = 500

func (c *console) searchBatch(ctx context.Context, l *link, path string) error {
	type line struct {
		Query string `json:"query"`
		Space string `json:"space"`
		K     int    `json:"k"`
	}
	lines, err := readLines[line](c, path)
	if err != nil {
		return err
	}
	spaces := map[string]string{}
	for from := 0; from < len(lines); from += perCall {
		var all []kernel.MemorySearch
		for i, q := range lines[from:min(from+perCall, len(lines))] {
			id, ok := spaces[q.Space]
			if !ok {
				if id, err = c.spaceID(ctx, l, q.Space); err != nil {
					e := sys.AsError(err)
					what, help := e.In(c.lang == korean)
					return c.fail(e.Code, fmt.Sprintf(c.t("Line %d: %s", "%d번째 줄: %s"), from+i+1, what), help)
				}
				spaces[q.Space] = id
			}
			all = append(all, kernel.MemorySearch{Text: q.Query, Space: id, K: q.K})
		}
		found, err := l.Memory.SearchMany(ctx, all)
		if err != nil {
			return err
		}
		for _, ids := range found {
			if err := c.writeJSON(map[string][]string{"ids": ids}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *console) memoryShow() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "show ID", Short: c.t("Show a memory with where it comes from and what it replaced", "기억과 출처, 이전 내용을 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := l.Memory.Get(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			m := v.Memory
			c.printf("%s", safe(m.Text))
			line := func(en, ko, value string) {
				if value != "" {
					c.printf("  %s %s", c.t(en, ko), oneLine(value))
				}
			}
			line("Id:", "ID:", m.ID)
			line("Type:", "종류:", m.Kind)
			line("About:", "무엇에 대해:", m.Key)
			line("From:", "출처:", c.memorySource(m.Source))
			line("Conversation:", "대화:", v.Session)
			line("You said:", "한 말:", v.Quote)
			line("Said:", "말한 때:", m.SaidAt.Local().Format("2006-01-02 15:04"))
			line("Used:", "사용:", fmt.Sprint(m.Uses))
			for _, u := range v.UsedIn {
				line("Used in:", "사용한 대화:", u.At.Local().Format("2006-01-02 15:04")+" "+u.Title)
			}
			for _, l := range m.Labels {
				line("Read from:", "읽은 곳:", c.either(l.Text, l.TextKO))
			}
			for _, old := range v.History {
				line("Before:", "이전:", old.Text)
			}
			return nil
		}),
	})
}

func (c *console) memorySource(source string) string {
	switch source {
	case "person":
		return c.t("you", "사용자")
	case "agent":
		return c.t("an agent", "에이전트")
	case "conversation":
		return c.t("a conversation", "대화")
	}
	return c.t("an import", "가져오기")
}

func (c *console) memoryPin(use string, pin bool) *cobra.Command {
	short := c.t("Recall a memory always, and never let it fade", "기억을 항상 떠올리고 잊지 않게 합니다")
	if !pin {
		short = c.t("Recall a memory only where it fits", "기억을 맞을 때만 떠올리게 합니다")
	}
	return c.withJSON(&cobra.Command{
		Use: use + " ID", Short: short, Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			m, err := l.Memory.Update(ctx, args[0], kernel.MemoryPatch{Pinned: &pin})
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(m)
			}
			c.printf("%s: %s", tail(m.ID), map[bool]string{true: c.t("pinned.", "고정했습니다."), false: c.t("no longer pinned.", "고정을 풀었습니다.")}[pin])
			return nil
		}),
	})
}

func (c *console) memoryForget() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "forget ID...", Short: c.t("Delete memories for good", "기억을 완전히 지웁니다"), Args: c.args(1, -1),
		Long: c.t("Deletes memories for good, with what they replaced and the notes of where they were used, and the summary of the\nconversation that they came from. Memories that may still say it are named. Copies of the database and backups that were made before still hold them; the copies in the home are named.",
			"기억을 이전 내용과 사용 기록, 그 기억이 나온 대화의 요약까지 완전히 지웁니다. 같은 내용이 남아 있을 수 있는 다른 기억을 알려 줍니다.\n전에 만든 데이터베이스 사본과 백업에는 남습니다. 데이터 폴더의 사본은 알려 줍니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			f, err := l.Memory.Forget(ctx, args)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(f)
			}
			c.printf(c.t("Forgot %d.", "%d개를 잊었습니다."), f.Count)
			if f.Summaries > 0 {
				c.printf(c.t("The summary of its conversation was deleted too: %d.", "그 대화의 요약도 지웠습니다: %d개."), f.Summaries)
			}
			for _, m := range f.Still {
				c.note(c.t("This memory may still say it: %s. Delete it with `oxios memory forget %s`.", "이 기억에도 남아 있을 수 있습니다: %s. 지우려면 `oxios memory forget %s`를 실행하세요."), short(oneLine(m.Text), 80), tail(m.ID))
			}
			for _, path := range f.Copies {
				c.note(c.t("A copy that was made before still holds it: %s", "전에 만든 사본에는 남아 있습니다: %s"), path)
			}
			return nil
		}),
	})
}

func (c *console) memoryImport() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "import FILE.jsonl", Short: c.t("Import memories, one JSON object a line", "줄마다 JSON 객체 하나인 기억을 가져옵니다"), Args: c.args(1, 1),
		Long: c.t("Imports memories. Each line is {\"id\", \"text\", \"time\" (RFC 3339), \"type\", \"space\", \"session\", \"key\"}; only text is needed.\nA space that is missing is made. A memory whose id is there already is changed. - reads standard input.",
			"기억을 가져옵니다. 줄마다 {\"id\", \"text\", \"time\"(RFC 3339), \"type\", \"space\", \"session\", \"key\"}이고 text만 있으면 됩니다.\n없는 공간은 만들고, id가 이미 있는 기억은 바꿉니다. -는 표준 입력입니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			lines, err := readLines[kernel.MemoryImport](c, args[0])
			if err != nil {
				return err
			}
			if dry {
				return c.planImport(ctx, l, lines)
			}
			sum := kernel.MemoryImported{Spaces: []string{}}
			for from := 0; from < len(lines); from += perCall {
				r, err := l.Memory.Import(ctx, lines[from:min(from+perCall, len(lines))])
				if err != nil {
					if from > 0 {
						c.note(c.t("The first %d lines were imported.", "처음 %d줄은 가져왔습니다."), from)
					}
					return err
				}
				sum.Added, sum.Changed, sum.Spaces = sum.Added+r.Added, sum.Changed+r.Changed, append(sum.Spaces, r.Spaces...)
			}
			if c.json {
				return c.writeJSON(sum)
			}
			c.printf(c.t("Imported: %d new, %d changed.", "가져옴: 새 기억 %d개, 바뀐 기억 %d개."), sum.Added, sum.Changed)
			for _, s := range sum.Spaces {
				c.note(c.t("Made the space %q.", "공간 %q을(를) 만들었습니다."), s)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, c.t("only say what would come in, and what is wrong", "무엇을 가져올지와 잘못된 것만 보여 줍니다"))
	return c.withJSON(cmd)
}

// planImport says what an import would do.
func (c *console) planImport(ctx context.Context, l *link, all []kernel.MemoryImport) error {
	sum := kernel.MemoryImportPlan{Spaces: []string{}, Wrong: []kernel.MemoryFault{}}
	for from := 0; from < len(all); from += perCall {
		p, err := l.Memory.ImportPreview(ctx, all[from:min(from+perCall, len(all))])
		if err != nil {
			return err
		}
		sum.Added, sum.Changed, sum.Same = sum.Added+p.Added, sum.Changed+p.Changed, sum.Same+p.Same
		for _, s := range p.Spaces {
			if !slices.Contains(sum.Spaces, s) {
				sum.Spaces = append(sum.Spaces, s)
			}
		}
		for _, w := range p.Wrong {
			w.At += from
			sum.Wrong = append(sum.Wrong, w)
		}
	}
	if c.json {
		return c.writeJSON(sum)
	}
	c.printf(c.t("Would come in: %d new, %d changed; %d are there already.", "가져올 것: 새 기억 %d개, 바뀔 기억 %d개. %d개는 이미 있습니다."), sum.Added, sum.Changed, sum.Same)
	for _, s := range sum.Spaces {
		c.note(c.t("The space %q would be made.", "공간 %q을(를) 만듭니다."), s)
	}
	for _, w := range sum.Wrong {
		c.note(c.t("Memory %d: %s", "기억 %d: %s"), w.At, c.either(w.Text.EN, w.Text.KO))
	}
	return nil
}

func (c *console) memoryExport() *cobra.Command {
	var space string
	cmd := &cobra.Command{
		Use: "export", Short: c.t("Print memories as lines that import reads", "import가 읽는 줄로 기억을 출력합니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			spaces, err := l.Space.List(ctx)
			if err != nil {
				return err
			}
			names := map[string]string{"": ""}
			for _, s := range spaces {
				names[s.ID] = s.Name
			}
			q := kernel.MemoryQuery{Every: space == "", Limit: 1000}
			if q.Space, err = c.spaceID(ctx, l, space); err != nil {
				return err
			}
			for {
				page, err := l.Memory.List(ctx, q)
				if err != nil || len(page) == 0 {
					return err
				}
				for _, m := range page {
					out := kernel.MemoryImport{ID: m.ID, Text: m.Text, Time: m.SaidAt.UTC().Format("2006-01-02T15:04:05.999Z07:00"), Type: m.Kind, Space: names[m.Space], Session: m.Thread, Key: m.Key}
					if err := c.writeJSON(out); err != nil {
						return err
					}
				}
				q.Before = page[len(page)-1].ID
			}
		}),
	}
	return c.spaceFlag(cmd, &space)
}

func (c *console) memoryStats() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "stats", Short: c.t("Count what is remembered", "기억의 수를 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			s, err := l.Memory.Stats(ctx)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(s)
			}
			c.printf(c.t("%d memories, %d of them pinned; %d older ones kept as history; used %d times.", "기억 %d개, 그중 고정 %d개. 이전 내용 %d개. %d번 사용."), s.Memories, s.Pinned, s.Replaced, s.Uses)
			v, err := l.Memory.Embedding(ctx)
			if err != nil {
				return err
			}
			c.embedding(v)
			return nil
		}),
	})
}

func (c *console) memoryRebuild() *cobra.Command {
	return &cobra.Command{
		Use: "rebuild", Short: c.t("Build the index of memories anew", "기억의 색인을 다시 만듭니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			if err := l.Memory.Rebuild(ctx); err != nil {
				return err
			}
			c.printf("%s", c.t("The index was built anew.", "색인을 다시 만들었습니다."))
			return nil
		}),
	}
}

// readLines reads a file of one JSON object a line; - is standard input. Empty
// lines are passed over; one that is none of JSON is named, and nothing is read.
func readLines[T any](c *console, path string) ([]T, error) {
	raw, err := c.readInput(path)
	if err != nil {
		return nil, err
	}
	var out []T
	for i, line := range strings.Split(string(raw), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return nil, c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("Line %d is no JSON object of the kind that is needed: %v. Nothing was done.", "%d번째 줄이 필요한 형식의 JSON 객체가 아닙니다: %v. 아무것도 하지 않았습니다."), i+1, err), "")
		}
		out = append(out, v)
	}
	return out, nil
}

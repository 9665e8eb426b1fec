package cli

import (
	"context"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) webCommand() *cobra.Command {
	return c.group("web", "Search the web and read pages, as agents do", "에이전트처럼 웹을 검색하고 페이지를 읽습니다", c.webSearch(), c.webFetch(), c.webService(), c.webKey())
}

func (c *console) webSearch() *cobra.Command {
	var s kernel.WebSearch
	cmd := &cobra.Command{
		Use: "search WORDS", Short: c.t("Ask the search service", "검색 서비스에 묻습니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			s.Query = args[0]
			found, err := l.Browser.Search(ctx, s)
			if err != nil {
				return err
			}
			head := []string{c.t("TITLE", "제목"), c.t("ADDRESS", "주소")}
			return list(c, found, c.t("Nothing was found.", "찾은 것이 없습니다."), head, func(r kernel.WebResult) []string {
				return []string{short(r.Title, 60), oneLine(r.URL)}
			})
		}),
	}
	f := cmd.Flags()
	f.IntVar(&s.Count, "count", 8, c.t("how many results, at most 20", "결과 수. 최대 20"))
	f.StringVar(&s.Lang, "lang", "", c.t("the language of the results, like ko or en", "결과의 언어. ko, en 등"))
	f.StringVar(&s.Freshness, "freshness", "", c.t("day, week, month or year", "day, week, month 또는 year"))
	return c.withJSON(cmd)
}

func (c *console) webFetch() *cobra.Command {
	var w kernel.WebFetch
	var save bool
	var note string
	cmd := &cobra.Command{
		Use: "fetch URL", Short: c.t("Read a page as markdown", "페이지를 마크다운으로 읽습니다"), Args: c.args(1, 1),
		Long: c.t("Reads a page as markdown. With --save it becomes a note of your vault, whole, with its address, title and day in the head; what a\nstranger wrote stays marked as such when an agent reads the note.",
			"페이지를 마크다운으로 읽습니다. --save를 쓰면 페이지 전체가 노트가 되고 머리말에 주소, 제목, 날짜가 남습니다. 에이전트가 그 노트를\n읽을 때도 외부 글이라는 표시가 따라갑니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if save {
				s, err := l.Knowledge.SavePage(ctx, kernel.PageSave{URL: args[0], Path: note})
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(s)
				}
				return c.changedNote(s.VaultChange, nil)
			}
			w.URL = args[0]
			p, err := l.Browser.Fetch(ctx, w)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(p)
			}
			c.printf("%s", safe(p.Markdown))
			if p.Next > 0 {
				c.note(c.t("It goes on with --from %d.", "--from %d로 이어집니다."), p.Next)
			}
			return nil
		}),
	}
	f := cmd.Flags()
	f.IntVar(&w.From, "from", 0, c.t("the character to begin at", "시작할 글자"))
	f.IntVar(&w.Max, "max", 40_000, c.t("how many characters", "글자 수"))
	f.BoolVar(&save, "save", false, c.t("keep it as a note of your vault", "지식 폴더에 노트로 저장"))
	f.StringVar(&note, "note", "", c.t("the note for --save; by default one in Pages, by the title of the page", "--save로 만들 노트. 기본은 Pages 안의 페이지 제목"))
	f.BoolVar(&w.Raw, "raw", false, c.t("as it was sent", "받은 그대로"))
	cmd.MarkFlagsMutuallyExclusive("save", "from")
	cmd.MarkFlagsMutuallyExclusive("save", "max")
	cmd.MarkFlagsMutuallyExclusive("save", "raw")
	return c.withJSON(cmd)
}

func (c *console) webService() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "service", Short: c.t("Show which service answers searches", "검색에 답하는 서비스를 봅니다"), Args: c.args(0, 0),
		Long: c.t("Shows which service answers searches. `oxios config set search_service` chooses duckduckgo, searxng, brave or tavily,\n`oxios config set search_url` the address of an instance of your own.",
			"검색에 답하는 서비스를 봅니다. `oxios config set search_service`로 duckduckgo, searxng, brave, tavily 중에서 고르고\n`oxios config set search_url`로 직접 운영하는 서버의 주소를 정합니다."),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			s, err := l.Browser.Service(ctx)
			if err != nil {
				return err
			}
			return c.showSearch(s)
		}),
	})
}

func (c *console) showSearch(s kernel.SearchService) error {
	if c.json {
		return c.writeJSON(s)
	}
	c.printf("%s %s", s.Kind, oneLine(s.URL))
	if s.Key {
		c.printf("%s", c.t("There is a key for it.", "키가 있습니다."))
	} else {
		c.printf("%s", c.t("There is no key for it.", "키가 없습니다."))
	}
	return nil
}

func (c *console) webKey() *cobra.Command {
	var stdin, remove bool
	cmd := &cobra.Command{
		Use: "key", Short: c.t("Set or remove the key of the search service", "검색 서비스의 키를 정하거나 없앱니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) (err error) {
			key := ""
			if !remove {
				if key, err = c.secrets(stdin)(c.t("Key: ", "키: ")); err != nil {
					return err
				}
			}
			s, err := l.Browser.SetKey(ctx, key)
			if err != nil {
				return err
			}
			return c.showSearch(s)
		}),
	}
	cmd.Flags().BoolVar(&stdin, "stdin", false, c.t("read it from standard input", "표준 입력에서 읽습니다"))
	cmd.Flags().BoolVar(&remove, "remove", false, c.t("remove it", "없앱니다"))
	return c.withJSON(cmd)
}

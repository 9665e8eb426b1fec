package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"

	"oxios/kernel/agent"
	"oxios/kernel/knowledge"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// PageSave is a page of the web that the person keeps as a note: one that a run has
// read, or one that is read now.
type PageSave struct {
	RunID  string `json:"run_id,omitempty"`
	StepID string `json:"step_id,omitempty"` // of the run, in which it read the page
	URL    string `json:"url,omitempty"`     // without a run
	Path   string `json:"path,omitempty"`    // of the note; "" for one in Pages, by the title of the page
}

// PageSaved is the note that a page became.
type PageSaved struct {
	VaultChange
	Title string `json:"title"`
	URL   string `json:"url"`
}

const (
	pagesFolder = "Pages"
	wholePage   = 1 << 30 // characters; the client reads less
	maxPageName = 60      // letters of a title that a note is named by
	maxTwins    = 100     // notes of one name
)

// PageText is what a model reads of a page, from a character of it on.
func PageText(p WebPage, from int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p.URL)
	byline := []string{}
	for _, s := range []string{p.Author, p.Site, p.Published} {
		if s != "" {
			byline = append(byline, s)
		}
	}
	for _, line := range []string{p.Title, strings.Join(byline, ", ")} {
		if line != "" {
			fmt.Fprintf(&b, "%s\n", line)
		}
	}
	fmt.Fprintf(&b, "\n%s", p.Markdown)
	switch {
	case p.Next > 0:
		fmt.Fprintf(&b, "\n(Characters %d to %d of %d. Go on with from %d.)", from, p.Next, p.Total, p.Next)
	case p.Truncated:
		b.WriteString("\n" + pageGoesOn)
	}
	return b.String()
}

const pageGoesOn = "(The page goes on, but no more of it is read.)"

var pageNext = sys.Pattern(`\n\(Characters \d+ to \d+ of \d+\. Go on with from \d+\.\)$`)

// keptPage is a page as the journal of a run holds it.
type keptPage struct {
	WebPage
	part bool // a piece of it, or as it was sent
}

// readPage takes [PageText] apart. It reports false for a text that is none: the
// journal has let go of it.
func readPage(text string) (p keptPage, ok bool) {
	head, body, ok := strings.Cut(text, "\n\n")
	p.URL, _, _ = strings.Cut(head, "\n")
	if !ok || hostOf(p.URL) == "" {
		return p, false
	}
	if at := pageNext().FindStringIndex(body); at != nil {
		body, p.part = body[:at[0]], true
	}
	p.Markdown, p.Truncated = strings.CutSuffix(body, "\n"+pageGoesOn)
	return p, true
}

// pageOfStep is the page that a step of a run read.
func (k *Kernel) pageOfStep(ctx context.Context, runID, stepID string) (p keptPage, err error) {
	steps, err := k.store.Steps(ctx, runID)
	if err != nil {
		return p, err
	}
	for _, s := range steps {
		var a agent.CallArgs
		var in WebFetch
		var got agent.ToolStep
		if s.ID != stepID || s.Name != "web_fetch" || json.Unmarshal(s.Args, &a) != nil || json.Unmarshal(a.Args, &in) != nil || json.Unmarshal(s.Result, &got) != nil || got.Error != nil {
			continue
		}
		p, ok := readPage(got.Text)
		if !ok {
			return p, sys.Errorf(sys.CodeNotFound, "The journal of this run does not hold what %s said any more. Nothing was saved.", in.URL).WithHint("Save the page as it is now.")
		}
		if p.Title = strings.TrimPrefix(got.Title, "Read "); p.Title == p.URL {
			p.Title = ""
		}
		p.part = p.part || in.From > 0 || in.Raw
		p.Fetched = k.clock.Now()
		if s.ClosedAt != nil {
			p.Fetched = *s.ClosedAt
		}
		return p, nil
	}
	return p, sys.Errorf(sys.CodeNotFound, "This run has no step %s that read a page. Nothing was saved.", stepID)
}

// SavePage keeps a page of the web as a note: all of it, with where it is from and
// when it was read. What the run read is what is kept; where that was a piece, the
// page is read again. The note carries what the run had read, and that a stranger
// wrote it.
func (a *KnowledgeAPI) SavePage(ctx context.Context, in PageSave) (PageSaved, error) {
	out := PageSaved{}
	p, notes, err := a.pageToSave(ctx, in)
	if err == nil {
		out.Title, out.URL = pageTitle(p), p.URL
	}
	name := in.Path
	if name == "" {
		name = path.Join(pagesFolder, noteName(out.Title))
	}
	host := hostOf(p.URL)
	from := &keptWords{runID: in.RunID, labels: Labels{webLabel(host, p.URL)}}
	out.VaultChange, err = a.changeOf(ctx, from, "knowledge.savePage", name, sys.Say("Save the page %s", sys.Shorten(p.URL, 300)), in, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		if err != nil {
			return knowledge.Plan{}, err
		}
		opt := knowledge.WriteOptions{}
		if in.RunID != "" {
			r, err := a.k.run(ctx, in.RunID)
			if err != nil {
				return knowledge.Plan{}, err
			}
			opt.Provenance = &knowledge.Provenance{Run: r.ID, Session: r.SessionID, Source: []string{p.URL}, Date: p.Fetched.UTC().Truncate(time.Second)}
		}
		for n := 1; ; n++ {
			at := name
			if n > 1 {
				at = fmt.Sprintf("%s %d", name, n)
			}
			plan, err := v.PlanWrite(ctx, at, pageNote(p), "", opt)
			if sys.CodeOf(err) == sys.CodeConflict && in.Path == "" && n < maxTwins {
				continue
			}
			plan.Notes = append(plan.Notes, notes...)
			return plan, err
		}
	})
	return out, err
}

// pageToSave is the whole page, and what a person should know of it.
func (a *KnowledgeAPI) pageToSave(ctx context.Context, in PageSave) (WebPage, []sys.Words, error) {
	web := &BrowserAPI{a.caller}
	if in.RunID == "" {
		p, err := web.Fetch(ctx, WebFetch{URL: in.URL, Max: wholePage})
		return p, endless(p), err
	}
	kept, err := a.k.pageOfStep(ctx, in.RunID, in.StepID)
	if err != nil || !kept.part {
		return kept.WebPage, endless(kept.WebPage), err
	}
	p, err := web.Fetch(ctx, WebFetch{URL: kept.URL, Max: wholePage})
	if err != nil {
		return kept.WebPage, []sys.Words{sys.Say("The run read a piece of this page, and that piece is kept: the rest could not be read now. %s", sys.TextOf(err))}, nil
	}
	return p, append(endless(p), sys.Say("The run read a piece of this page; the whole page is kept as it is now.")), nil
}

func endless(p WebPage) []sys.Words {
	if !p.Truncated {
		return nil
	}
	return []sys.Words{sys.Say("The page goes on: its beginning is kept.")}
}

func pageTitle(p WebPage) string {
	if t := strings.Join(strings.Fields(p.Title), " "); t != "" {
		return t
	}
	return hostOf(p.URL)
}

// noteName makes a title the name of a note that every system and every link takes.
func noteName(title string) string {
	name := strings.Join(strings.FieldsFunc(title, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`<>:"/\|?*#^[]`, r)
	}), " ")
	if r := []rune(name); len(r) > maxPageName {
		name = string(r[:maxPageName])
	}
	if name = strings.Trim(name, ". "); name == "" {
		return "Page"
	}
	return name
}

// pageNote is the text of the note, with where it is from in its head.
func pageNote(p WebPage) string {
	quoted := func(s string) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // an address stays as it is
		_ = e.Encode(s)        // a string always can be
		return strings.TrimSpace(b.String())
	}
	title := pageTitle(p)
	body := strings.TrimSpace(p.Markdown)
	if first, _, _ := strings.Cut(body, "\n"); strings.TrimSpace(strings.TrimLeft(first, "#")) != title || !strings.HasPrefix(first, "#") {
		body = "# " + title + "\n\n" + body
	}
	return fmt.Sprintf("---\ntitle: %s\nsource: %s\ndate: %s\n---\n%s\n", quoted(title), quoted(p.URL), p.Fetched.Local().Format(time.DateOnly), body)
}

// webLabel is of what a machine of the web sent.
func webLabel(host, source string) Label {
	return store.NewLabel(Label{Origin: store.LabelWeb, Untrusted: true, Name: sys.Shorten(source, 500)}, "", sys.Say("what %s sent", host))
}

package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type memoryReadArgs struct {
	ID    string `json:"id,omitempty" jsonschema:"of one memory, to read it whole with what it replaced; left out to list"`
	Type  string `json:"type,omitempty" jsonschema:"list only these"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many to list; 30 by default, at most 200"`
}

type memorySearchArgs struct {
	Query string `json:"query" jsonschema:"what to recall, in a few words"`
	Type  string `json:"type,omitempty" jsonschema:"find only these"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many; 10 by default, at most 50"`
}

type memoryWriteArgs struct {
	Text string `json:"text" jsonschema:"one thing, in a sentence that can be understood alone, with names and dates instead of words like today"`
	Type string `json:"type" jsonschema:"fact: something that holds; episode: something that happened"`
	Key  string `json:"key,omitempty" jsonschema:"what a fact is about, as favourite editor: a newer fact with the same key replaces it"`
}

var memoryTypes = map[string][]string{"type": {"fact", "episode"}}

var memoryReadMaker = maker{
	name: "memory_read", domain: "memory", calls: []string{"memory.list", "memory.get"},
	about: "Recalls agent memories by time: facts about the user and episodes of earlier conversations.",
	terms: "기억 회상 떠올리기 선호 취향 패턴 사실 remember recall preference pattern past",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("memory_read", "Recalls agent memories, the pinned and then the newest first, or one of them whole with its history. Internal to the agent. Kept in SQLite.", memoryTypes,
			func(in memoryReadArgs) sys.Words { return sys.Say("Look at what is remembered") },
			func(ctx context.Context, in memoryReadArgs) (agent.Result, error) {
				if in.ID != "" {
					v, err := h.Memory.Get(ctx, in.ID)
					if err != nil {
						return agent.Result{}, err
					}
					var b strings.Builder
					memoryLine(&b, v.Memory)
					for _, old := range v.History {
						b.WriteString("before: ")
						memoryLine(&b, old)
					}
					return agent.Result{Text: strings.TrimSpace(b.String()), Title: sys.Say("Looked at what is remembered")}, nil
				}
				limit := 30
				if in.Limit > 0 {
					limit = min(in.Limit, 200)
				}
				all, err := h.Memory.List(ctx, kernel.MemoryQuery{Kind: in.Type, Limit: limit})
				if err != nil {
					return agent.Result{}, err
				}
				var b strings.Builder
				for _, m := range all {
					memoryLine(&b, m)
				}
				if len(all) == 0 {
					b.WriteString("Nothing is remembered.")
				}
				return agent.Result{Text: strings.TrimSpace(b.String()), Title: sys.Say("Looked at %s", counted(len(all), "memory", "기억"))}, nil
			})
	},
}

var memorySearchMaker = maker{
	name: "memory_search", domain: "memory", calls: []string{"memory.search", "memory.elsewhere"},
	about: "Searches agent memories: what earlier conversations told about the user and their work.",
	terms: "기억 찾기 검색 회상 선호 취향 패턴 전에 말한 지난번 remember recall before last time preference pattern",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("memory_search", "Searches agent memories by their words, in the space of this conversation, the best first; also what was said in its other conversations in the last seven days. Tells which other spaces know clearly more, and what they know where the person lets them share it. Internal to the agent. Kept in SQLite, found through an index of words and vectors.", memoryTypes,
			func(in memorySearchArgs) sys.Words { return sys.Say("Recall: %s", in.Query) },
			func(ctx context.Context, in memorySearchArgs) (agent.Result, error) {
				k := 10
				if in.Limit > 0 {
					k = min(in.Limit, 50)
				}
				what := kernel.MemorySearch{Text: in.Query, Kind: in.Type, K: k, Least: kernel.MemoryLeast, Said: true}
				found, err := h.Memory.Search(ctx, what)
				if err != nil {
					return agent.Result{}, err
				}
				var b strings.Builder
				for _, f := range found {
					memoryLine(&b, f.Memory)
				}
				if len(found) == 0 {
					b.WriteString("Nothing that is remembered in this space fits.\n")
				}
				title := sys.Say("Recalled %s for: %s", counted(len(found), "memory", "기억"), in.Query)
				elsewhere, err := h.Memory.Elsewhere(ctx, what)
				if err != nil {
					return agent.Result{}, err
				}
				if len(elsewhere) > 0 {
					title = sys.Say("Recalled %s for: %s. Also in %s", counted(len(found), "memory", "기억"), in.Query, elsewhereText(&b, elsewhere))
				}
				return agent.Result{Text: strings.TrimSpace(b.String()), Title: title}, nil
			})
	},
}

var memoryWriteMaker = maker{
	name: "memory_write", domain: "memory", calls: []string{"memory.remember"},
	about: "Stores a recallable agent memory: facts about the user, behavioral patterns, preference corrections, episodes.",
	terms: "기억해 기억 외워 선호 취향 패턴 습관 앞으로 remember preference pattern habit from now on",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("memory_write", "Stores a recallable agent memory: facts about the user, behavioral patterns, session observations, preference corrections. Internal to the agent. "+
			"Persisted across sessions in SQLite, found through an index of words and vectors.", memoryTypes,
			func(in memoryWriteArgs) sys.Words { return sys.Say("Remember: %s", in.Text) },
			func(ctx context.Context, in memoryWriteArgs) (agent.Result, error) {
				m, err := h.Memory.Remember(ctx, kernel.MemoryInput{Text: in.Text, Kind: in.Type, Key: in.Key})
				if err != nil {
					return agent.Result{}, err
				}
				return agent.Result{Text: "Remembered as " + m.ID + ".", Title: sys.Say("Remembered: %s", m.Text)}, nil
			})
	},
}

// elsewhereText writes what other spaces know, each line with the space that it
// is of, and returns their tags.
func elsewhereText(b *strings.Builder, all []kernel.MemoryElsewhere) string {
	var tags []string
	b.WriteString("From other spaces, not this one. Say so when you use it:\n")
	for _, e := range all {
		tags = append(tags, e.Tag)
		for _, f := range e.Found {
			fmt.Fprintf(b, "%s ", e.Tag)
			memoryText(b, f.Memory)
		}
		if e.Shared {
			continue
		}
		fmt.Fprintf(b, "%s knows something about this: %s, the best a %s of %s", e.Tag, count(e.Count, "memory"), e.Kind, e.SaidAt.Format("2006-01-02"))
		if e.About != "" {
			fmt.Fprintf(b, " about %s", strings.Join(strings.Fields(e.About), " "))
		}
		b.WriteString(". Its memories are kept to that space: tell the person that they can ask there, or have it share its memories (Spaces).\n")
	}
	return strings.Join(tags, ", ")
}

// memoryLine writes a memory in a line, with its id.
func memoryLine(b *strings.Builder, m kernel.Memory) {
	b.WriteString(m.ID + " ")
	memoryText(b, m)
}

func memoryText(b *strings.Builder, m kernel.Memory) {
	fmt.Fprintf(b, "[%s, %s", m.Kind, m.SaidAt.Format("2006-01-02"))
	if m.Key != "" {
		fmt.Fprintf(b, ", about %s", m.Key)
	}
	fmt.Fprintf(b, "] %s\n", strings.Join(strings.Fields(m.Text), " "))
}

package llm

// chatUsage is what servers count, under all the names that they give it.
type chatUsage struct{ flexObject[usageCounts] }

type usageCounts struct {
	Prompt     flexInt `json:"prompt_tokens"`
	Completion flexInt `json:"completion_tokens"`
	Total      flexInt `json:"total_tokens"`

	InputTokens  flexInt `json:"input_tokens"` // proxies that kept Anthropic's names
	OutputTokens flexInt `json:"output_tokens"`

	CacheHit     flexInt `json:"prompt_cache_hit_tokens"`     // DeepSeek
	CachedTop    flexInt `json:"cached_tokens"`               // Moonshot
	CacheRead    flexInt `json:"cache_read_input_tokens"`     // Anthropic
	CacheCreated flexInt `json:"cache_creation_input_tokens"` // Anthropic

	PromptMore     usageDetails `json:"prompt_tokens_details"`
	InputMore      usageDetails `json:"input_tokens_details"`
	CompletionMore usageDetails `json:"completion_tokens_details"`
	OutputMore     usageDetails `json:"output_tokens_details"`
}

type usageDetails struct{ flexObject[detailCounts] }

type detailCounts struct {
	Cached       flexInt `json:"cached_tokens"`
	CacheWrite   flexInt `json:"cache_write_tokens"`
	CacheCreated flexInt `json:"cache_creation_tokens"`
	Reasoning    flexInt `json:"reasoning_tokens"`
}

// usage takes the counts for what they mean. A server that counts no input has
// counted nothing: no request is empty.
func (u *chatUsage) usage() Usage {
	c := &u.is
	out := Usage{
		Input:     int(max(c.Prompt, c.InputTokens)),
		Output:    int(max(c.Completion, c.OutputTokens)),
		Cached:    int(max(c.CacheHit, c.CachedTop, c.CacheRead, c.PromptMore.is.Cached, c.InputMore.is.Cached)),
		Written:   int(max(c.CacheCreated, c.PromptMore.is.CacheWrite, c.PromptMore.is.CacheCreated, c.InputMore.is.CacheWrite)),
		Reasoning: int(max(c.CompletionMore.is.Reasoning, c.OutputMore.is.Reasoning)),
	}
	rest := max(int(c.Total)-out.Input-out.Output, 0) // what the sum has more than its parts
	// Anthropic counts what it has from the cache, and what it puts there, beside
	// the input. The sum says so, or there is more of it than input.
	if cache := out.Cached + out.Written; cache > 0 && (rest >= cache || cache > out.Input) {
		out.Input += cache
		rest = max(rest-cache, 0)
	}
	// xAI and Google leave the reasoning out of completion_tokens, but not out
	// of the sum, and bill it.
	out.Output += rest
	out.Reported = out.Input > 0
	return out.sane()
}

// sane keeps counts of a broken server from making a negative bill.
func (u Usage) sane() Usage {
	const most = 1 << 30
	u.Input, u.Output = min(max(u.Input, 0), most), min(max(u.Output, 0), most)
	u.Cached, u.Reasoning = min(max(u.Cached, 0), u.Input), min(max(u.Reasoning, 0), u.Output)
	u.Written = min(max(u.Written, 0), u.Input-u.Cached)
	return u
}

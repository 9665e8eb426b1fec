package llm

// minAsked is the fewest tokens that a server is asked for instead of more.
const minAsked = 1024

// allowed is how many tokens the answer may have: what the request says, or
// what the server turned out to allow. 0 is the server's own limit.
func allowed(req Request, q quirk) int {
	if q.maxOut > 0 && req.MaxTokens > 0 {
		return min(req.MaxTokens, q.maxOut)
	}
	return req.MaxTokens
}

func (c *Client) quirk(model string) quirk {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.quirks[model]
}

// learn notes what the server did not understand, and reports whether it is
// worth asking once more without it.
func (c *Client) learn(req Request, q quirk, f *fault) bool {
	if f.status < 400 || f.status >= 500 {
		return false
	}
	old := q
	switch {
	case containsAny(f.words, "stream_options"):
		q.noUsage = true
	case containsAny(f.words, "v1/responses", "responses api") && c.ep.Kind == KindOpenAI:
		q.responses = true
	case containsAny(f.words, "max_completion_tokens", "max_tokens") && req.MaxTokens > 0 && containsAny(f.words, "unsupported", "not supported", "unrecognized", "not permitted", "unknown"):
		q.swapMax = true
	case containsAny(f.words, "max_completion_tokens", "max_tokens", "max_output_tokens") && allowed(req, q) > minAsked && containsAny(f.words, "too large", "at most", "maximum", "less than", "exceed"):
		q.maxOut = allowed(req, q) / 2
	case containsAny(f.words, "reasoning_effort", "reasoning.effort") && req.Effort != "":
		q.noEffort = true
	case containsAny(f.words, "does not support thinking"):
		q.noThink = true
	case containsAny(f.words, "reasoning_content"):
		switch { // it wants what was thought back, or it does not know the word
		case q.thoughts == thoughtsUsual && containsAny(f.words, "missing", "must be", "required", "pass", "need"):
			q.thoughts = thoughtsAlways
		case q.thoughts != thoughtsNever:
			q.thoughts = thoughtsNever
		}
	case namesCallID(f.words):
		q.shortIDs = true
	case containsAny(f.words, "role 'user' after role 'tool'", "role \"user\" after role \"tool\"", "user after tool") || containsAny(f.words, "alternat") && containsAny(f.words, "role"):
		q.strictRoles = true
	}
	if q == old {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quirks[req.Model] = q
	return true
}

// namesCallID reports whether a server's words are about the id of a tool call.
func namesCallID(words string) bool {
	return containsAny(words, "tool call id", "tool_call_id", "tool_calls.id", "tool_use.id", "tool_use_id", "tool call ids", "call_id", "toolcallid")
}

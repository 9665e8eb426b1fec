package mcp

import (
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// ReadPrompt reads the prompt that a message begins with: /server:prompt, then name=value for each of its arguments, in quotes
// where the value has spaces. What follows them is the person's own, and so is a message that names no server that has prompts.
func (s *Service) ReadPrompt(text string) (in PromptInput, ok bool, err error) {
	line, found := strings.CutPrefix(strings.TrimLeft(text, " \t\n"), "/")
	word, rest, _ := strings.Cut(line, " ")
	word, _, _ = strings.Cut(word, "\n")
	server, _, named := strings.Cut(word, ":")
	if !found || !named {
		return in, false, nil
	}
	def, there := s.settings().Servers[server]
	if !there || !s.has(server, def).Prompting {
		return in, false, nil
	}
	all := s.has(server, def).Prompts
	i := slices.IndexFunc(all, func(p Prompt) bool { return p.Call == word })
	if i < 0 {
		return in, false, sys.Errorf(sys.CodeNotFound, "The server %s has no prompt %q. Nothing was called.", server, sys.Shorten(word, 100)).WithHint("`oxios mcp prompts %s` shows them.", server)
	}
	in = PromptInput{Server: server, Prompt: all[i].Name, Args: valuesIn(rest, all[i].Args)}
	return in, true, nil
}

// valuesIn reads name=value, as often as it stands at the beginning of a text with a name that is declared.
func valuesIn(text string, args []PromptArg) map[string]string {
	values := map[string]string{}
	for {
		text = strings.TrimLeft(text, " \t")
		name, more, ok := strings.Cut(text, "=")
		if !ok || !slices.ContainsFunc(args, func(a PromptArg) bool { return a.Name == name }) {
			return values
		}
		values[name], text = valueIn(more)
	}
}

// valueIn reads one value: a word, or what stands between quotes, where a backslash takes the next sign as it is.
func valueIn(text string) (value, rest string) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, " \t\n")
		if end < 0 {
			return text, ""
		}
		return text[:end], text[end:]
	}
	var b strings.Builder
	escaped := false
	for i, r := range text[1:] {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			return b.String(), text[i+2:]
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), ""
}

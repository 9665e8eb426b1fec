// Package llm talks to language models. It owns the wire: chat completions,
// the Responses API and Ollama's own protocol, the catalogue of prices, and
// what can be found out about an endpoint.
//
// It promises four things. A tool call is reported only from an answer that
// ended by the model's own will: a stream that was cut, refused or shortened
// carries none. What a server sends is bounded in line length, total size,
// number and depth of tool calls. A failure is a [sys.Error] with a code, a
// sentence and a hint, and never shows the key. A price that is not known is
// nil, never zero.
package llm

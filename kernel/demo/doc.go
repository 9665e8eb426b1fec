// Package demo is a scripted model endpoint: a server that speaks OpenAI's
// chat completions on the wire and plays scenarios instead of thinking. The
// offline demo of Oxios and the scripted models of its tests are this server.
// It is a peer: it knows nothing of Oxios and imports nothing of it.
//
// # Scenario files
//
// A scenario file is TOML. The first scenario whose match fits the last
// message of the user is played, turn by turn. Which turn comes is computed
// from the request alone: the number of assistant messages after the last user
// message. So parallel conversations do not disturb each other, and a
// conversation can be continued after a restart of either side.
//
//	[[scenario]]
//	name  = "write a file"
//	match = '(?i)\b(write|create) .*?([\w.-]+\.txt)'   # Go regular expression; its groups are {{1}}, {{2}}, …
//	any   = ["hello file", "인사 파일"]                 # or: one of these stands in the message, case ignored
//	language = "en"                                    # and the message asks in this language, ko or en
//
//	[[scenario.turn]]
//	reasoning = "The person wants a file."
//	text      = "I will write it."
//	[[scenario.turn.call]]
//	tool = "write"
//	args = '{"path": "{{2}}", "content": "Hello\n"}'   # raw text: malformed arguments are possible
//
//	[[scenario.turn]]
//	when = '(?i)denied'                                # matched against the results of the turn before
//	text = "You said no, so there is no file."
//	[[scenario.turn]]
//	text = "Done: {{2}} is written."
//
// Only the first 16 KiB of a message are matched.
// A scenario without match and any fits every message: put it last. A turn
// with when or times belongs to the same step as the turn that follows it; the
// first turn of a step that fits is played. After the last step the model says that
// its script is over; with loop = true the steps begin again, without end.
// A turn with repeat = N stands for N equal steps.
//
// A table [words] before the scenarios names pieces that their matches share:
// with please = '…' a match says {{please}}.
//
// Templates in text, reasoning, refusal and arguments: {{message}} the user's
// message, {{result}} the results of the turn before (shortened), {{1}} a group
// of match, {{n}} the number of the step, from 1. In arguments they are escaped
// as part of a JSON string.
//
// A turn has further keys for timing and for faults:
//
//	chunk_ms     = 20        wait between two chunks
//	delay_ms     = 500       wait before the headers
//	chars        = true      stream text character by character, not in words
//	finish       = "length"  another finish_reason
//	refusal      = "…"       the model's refusal instead of text
//	no_usage     = true      send no token counts
//	usage        = [in, out, cached, reasoning]
//	status       = 429       answer with this status and body
//	body         = '{"error": {"message": "…"}}'
//	retry_after  = "2"       the Retry-After header
//	content_type = "text/html"
//	raw          = "…"       send exactly this as the body
//	cut_chunks   = 3         close the connection after so many chunks
//	cut_bytes    = 100       close it after so many bytes of the body
//	hang         = true      send the chunks without the finish, then nothing until the client goes
//	times        = 2         only the first so many requests meet this turn, later ones the next of its step
//
// times is the one thing that the server remembers. A request that allows fewer
// tokens than a turn has gets its beginning, without calls, and finish length.
package demo

package kernel

import "testing"

func TestAMessageEndsItsBlocksInAnExport(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Here:\n\n```\nunclosed":             "Here:\n\n```\nunclosed\n```",
		"```go\nx\n```\nafter":               "",
		"~~~~\n~~~\n```\ninside":             "~~~~\n~~~\n```\ninside\n~~~~",
		"````\n```\nnested\n```\n":           "````\n```\nnested\n```\n````",
		"```\nx\n````":                       "",
		"```\nx\n``` not an end":             "```\nx\n``` not an end\n```",
		"```code``` in a line\nmore":         "",
		"    ```\nindented is no fence":      "",
		"  ```\r\nx\r\n":                     "  ```\r\nx\n```",
		"```\n    ```\nx":                    "```\n    ```\nx\n```",
		"text\n<!-- a comment\nthat is open": "text\n<!-- a comment\nthat is open-->",
		"<!-- closed --> and more":           "",
		"<pre>\nx":                           "<pre>\nx</pre>",
		"<PRE class=a>\nx\n</Pre>\ny":        "",
		"<script>\n```\n":                    "<script>\n```</script>",
		"```\n<!--\n":                        "```\n<!--\n```",
		"<preview>\nis another element":      "",
		"":                                   "",
	} {
		if want == "" {
			want = text
		}
		if got := closedMarkdown(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

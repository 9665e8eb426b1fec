package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestFieldsThatLookLikeSecretsAreKnown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, kind, title, message string
		secret                     bool
	}{
		{"password1", "string", "", "", true},
		{"OpenAIKey", "string", "", "", true},
		{"APIkey", "string", "", "", true},
		{"stripe_key", "string", "", "", true},
		{"mypassword", "string", "", "", true},
		{"api_keys", "string", "", "", true},
		{"x", "string", "p\u200bass\u200cword", "", true},
		{"x", "string", "ｐａｓｓｗｏｒｄ", "", true},
		{"x", "string", "Security code", "", true},
		{"x", "string", "Access code", "", true},
		{"x", "string", "2FA", "", true},
		{"x", "string", "PIN번호", "", true},
		{"x", "string", "비밀 번호", "", true},
		{"x", "string", "패스워드", "", true},
		{"x", "string", "비번", "", true},
		{"x", "string", "", "비번을 적어 주세요", true},
		{"x", "string", "보안 코드", "", true},
		{"x", "string", "\u1107\u1175\u1106\u1175\u11af\u1107\u1165\u11ab\u1112\u1169", "", true}, // 비밀번호, in its letters
		{"x", "integer", "", "Enter the OTP that we sent", true},
		{"x", "number", "", "카드 번호를 입력하세요", true},
		{"maxTokens", "integer", "Maximum tokens", "How many tokens may it use?", false},
		{"x", "integer", "최대 토큰 수", "", false},
		{"primary_key", "string", "Primary key", "", false},
		{"issueKey", "string", "", "", false},
		{"key", "string", "Key", "", false},
		{"x", "string", "장비 번호", "", false},
		{"monkey", "string", "Monkey", "", false},
		{"password", "string", "", "", true},
		{"userPassword", "string", "", "", true},
		{"API_KEY", "string", "", "", true},
		{"apiKey", "string", "", "", true},
		{"x", "string", "GitHub token", "", true},
		{"x", "string", "카드 번호", "", true},
		{"cardNumber", "string", "", "", true},
		{"pin", "integer", "", "", true},
		{"code", "string", "Verification code", "", true},
		{"value", "string", "", "Enter your password to go on", true},
		{"value", "string", "", "비밀번호를 입력하세요", true},
		{"max_tokens", "integer", "", "", false},
		{"resetPassword", "boolean", "Reset the password?", "", false},
		{"name", "string", "Your name", "Who are you?", false},
		{"pinned", "string", "Pinned note", "", false},
		{"secretary", "string", "Secretary", "", false},
	} {
		schema := fmt.Sprintf(`{"type": "object", "properties": {%q: {"type": %q, "title": %q}}}`, tc.name, tc.kind, tc.title)
		_, why := formOf("test", &sdk.ElicitParams{Message: tc.message, RequestedSchema: json.RawMessage(schema)})
		if secret := strings.Contains(why.EN, "looks like a secret"); secret != tc.secret {
			t.Errorf("%+v: got %v (%s)", tc, secret, why.EN)
		}
	}
}

func TestWhatIsSaidOfANumberTellsASecretToo(t *testing.T) {
	t.Parallel()
	for about, want := range map[string]bool{
		"Your card number": true, "The OTP from your phone": true, "보안 코드": true, "At most so many tokens": false, "How many lines": false,
	} {
		schema := fmt.Sprintf(`{"type": "object", "properties": {"n": {"type": "integer", "description": %q}}}`, about)
		_, why := formOf("test", &sdk.ElicitParams{RequestedSchema: json.RawMessage(schema)})
		if secret := strings.Contains(why.EN, "looks like a secret"); secret != want {
			t.Errorf("%s: got %v (%s)", about, secret, why.EN)
		}
	}
}

func TestASmallNumberThatTheServerProposesMayBeWarnedOfSecrets(t *testing.T) {
	t.Parallel()
	for bounds, want := range map[string]bool{
		`"minimum": 1, "maximum": 100, "default": 42`: false, `"minimum": 1, "maximum": 100`: true, `"maximum": 100, "default": 42`: true, `"minimum": 0, "maximum": 9999, "default": 0`: true,
	} {
		schema := `{"type": "object", "properties": {"n": {"type": "integer", "description": "Your favourite number (not your PIN)", ` + bounds + `}}}`
		_, why := formOf("test", &sdk.ElicitParams{RequestedSchema: json.RawMessage(schema)})
		if secret := strings.Contains(why.EN, "looks like a secret"); secret != want {
			t.Errorf("%s: got %v (%s)", bounds, secret, why.EN)
		}
	}
}

func TestWhatDoesNotFitAFormIsNotAsked(t *testing.T) {
	t.Parallel()
	many := map[string]any{}
	for i := range 31 {
		many[fmt.Sprint("f", i)] = map[string]any{"type": "string"}
	}
	for name, schema := range map[string]any{
		"too many fields":  map[string]any{"type": "object", "properties": many},
		"an object inside": json.RawMessage(`{"type": "object", "properties": {"x": {"type": "object"}}}`),
		"a list of texts":  json.RawMessage(`{"type": "object", "properties": {"x": {"type": "array", "items": {"type": "string"}}}}`),
		"very large":       json.RawMessage(`{"type": "object", "properties": {"x": {"type": "string", "description": "` + strings.Repeat("x", 40<<10) + `"}}}`),
		"no schema":        json.RawMessage(`[1, 2]`),
	} {
		if _, why := formOf("test", &sdk.ElicitParams{RequestedSchema: schema}); why.EN == "" {
			t.Errorf("%s: it is asked", name)
		}
	}
}

func TestOnlyPlainAddressesAreOpened(t *testing.T) {
	t.Parallel()
	for address, host := range map[string]string{
		"https://example.com/a?b=c": "example.com", "http://localhost:8080/x": "localhost:8080", "http://example.com": "", "javascript:alert(1)": "",
		"https://user@evil.example/": "", "https://example.com/\u202e": "", "https://": "", "file:///etc/passwd": "", "https://exa mple.com": "",
	} {
		f, why := formOf("test", &sdk.ElicitParams{Mode: "url", URL: address})
		if f.Host != host || (why.EN == "") != (host != "") {
			t.Errorf("%s: got the host %q, %q", address, f.Host, why.EN)
		}
	}
}

func TestASchemaThatUnfoldsWithoutEndIsNotChecked(t *testing.T) { // not beside others: who looks for goroutines cannot read stacks as deep as this one's
	doubling := `{"type": "object", "$ref": "#/$defs/d0", "$defs": {`
	for i := range 40 {
		doubling += fmt.Sprintf(`"d%d": {"anyOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}, `, i, i+1, i+1)
	}
	doubling += `"d40": {"type": "object"}}}`
	for name, tc := range map[string]struct {
		schema string
		checks bool
	}{
		"itself":        {`{"type": "object", "$ref": "#"}`, false},
		"a circle":      {`{"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}`, false},
		"doubling":      {doubling, false},
		"by an anchor":  {`{"type": "object", "$ref": "#here", "$defs": {"a": {"$anchor": "here"}}}`, false},
		"a plain one":   {`{"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}, "y": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}`, true},
		"another value": {`{"type": "object", "required": ["z"]}`, true},
	} {
		why := misfit(json.RawMessage(tc.schema), &sdk.CallToolResult{StructuredContent: map[string]any{"x": 1}})
		if checked := !strings.Contains(why, "was not checked"); checked != tc.checks {
			t.Errorf("%s: got %q", name, why)
		}
	}
}

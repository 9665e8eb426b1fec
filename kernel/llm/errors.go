package llm

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
	"unicode"

	openai "github.com/sashabaranov/go-openai"

	"oxios/kernel/sys"
)

// maxRetryAfter is how long a server may ask to wait and still be asked again
// without telling the person.
const maxRetryAfter = 30 * time.Second

// ErrUnreachable is the cause of a failure that ends by itself once the network
// is back: nothing of the request arrived, and nobody has to mend an address or
// a certificate.
var ErrUnreachable = errors.New("the endpoint cannot be reached")

// ErrTrouble is the cause of a failure that the endpoint calls its own: it is
// overloaded, or broken, whatever it is asked.
var ErrTrouble = errors.New("the endpoint has trouble of its own")

// fault is a failure on its way out: the sentence for the reader, and what the
// retry loop needs to know.
type fault struct {
	told   *sys.Error
	status int           // HTTP status, 0 without one
	words  string        // what the server said, in lower case
	retry  bool          // another attempt may succeed
	loads  bool          // the server is just loading the model
	after  time.Duration // the wait that the server asked for
}

func (f *fault) Error() string { return f.told.Error() }

func (c *Client) fault(code sys.Code, retry bool, hint, format string, args ...any) *fault {
	told := sys.Errorf(code, format, args...).WithCause(nil)
	told.Hint, told.HintKO = hint, sys.Korean(hint)
	told.Message, told.MessageKO = c.clean(told.Message, 600), c.clean(told.MessageKO, 600)
	return &fault{told: told, retry: retry}
}

// clean makes text of a server fit to be shown: no secrets, no control
// characters, no endless lines.
func (c *Client) clean(s string, limit int) string {
	for _, secret := range c.hidden {
		s = strings.ReplaceAll(s, secret, "[hidden]")
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit-1]) + "…"
	}
	return s
}

// quote is how a server's own words stand in a message.
func (c *Client) quote(words string) sys.Words {
	words = c.clean(words, 240)
	if words == "" {
		return sys.Words{}
	}
	return sys.Words{EN: " It said: “" + words + "”", KO: " 서버의 말: “" + words + "”"}
}

// explain turns any error of an attempt into a fault.
func (c *Client) explain(ctx context.Context, err error, model string, resp *http.Response) *fault {
	var f *fault
	var api *openai.APIError
	var req *openai.RequestError
	var unwritable *json.MarshalerError
	switch {
	case errors.As(err, &f):
		return f
	case ctx.Err() != nil:
		var own *sys.Error
		if errors.As(context.Cause(ctx), &own) {
			return &fault{told: own} // the caller said why
		}
		return &fault{told: sys.AsError(ctx.Err())}
	case errors.Is(err, errFirstByte):
		return c.fault(sys.CodeTimeout, true, "Try again, choose a smaller model, or raise first_byte_timeout_s of the provider in config.toml.",
			"%s did not begin to answer within %s.", c.ep.name(), c.ep.Timeout.FirstByte)
	case errors.Is(err, errIdle):
		return c.fault(sys.CodeTimeout, true, "Try again, or raise idle_timeout_s of the provider in config.toml.",
			"%s stopped in the middle of its answer and sent nothing for %s.", c.ep.name(), silence(err, c.ep.Timeout.Idle))
	case errors.Is(err, errTooMuch), errors.Is(err, errLongLine):
		return c.fault(sys.CodeProvider, false, "Choose another model or provider.", "%s was stopped: %s.", c.ep.name(), err)
	case errors.Is(err, openai.ErrReasoningEffortUnsupported):
		f = c.fault(sys.CodeInvalid, false, "Choose another effort.", "The model %s does not know this reasoning effort.", model)
		f.status, f.words = http.StatusBadRequest, "reasoning_effort" // as a server would say it
		return f
	case errors.Is(err, openai.ErrChatCompletionInvalidModel):
		return c.fault(sys.CodeUnknownModel, false, "Choose a model from the list in Settings, Models.", "The model %s does not chat.", model)
	case errors.As(err, &unwritable):
		return c.fault(sys.CodeInvalid, false, "Correct the schema of the tool.", "The request cannot be written as JSON: %v", err)
	// An unreadable APIError stands inside a RequestError, which has the body.
	case errors.As(err, &req):
		words, code, typ := serverWords(req.Body)
		f = c.refused(req.HTTPStatusCode, header(resp), model, words, code, typ)
		if f.loads && f.after == 0 {
			f.after = min(askedWait(strings.ToLower(string(req.Body))), maxRetryAfter) // beside the words
		}
		return f
	case errors.As(err, &api):
		code := ""
		if api.Code != nil {
			code = fmt.Sprint(api.Code)
		}
		return c.refused(api.HTTPStatusCode, header(resp), model, api.Message, code, api.Type)
	}
	return c.unreachable(err)
}

// silence is how long nothing came before err.
func silence(err error, usual time.Duration) time.Duration {
	var s *silent
	if errors.As(err, &s) {
		return s.wait
	}
	return usual
}

func header(resp *http.Response) http.Header {
	if resp == nil {
		return nil
	}
	return resp.Header
}

// serverWords finds what a server says in the body of an error, whose shapes
// differ.
func serverWords(body []byte) (words, code, typ string) {
	var doc struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Msg     json.RawMessage `json:"msg"`
		Text    json.RawMessage `json:"error_msg"`
		Long    json.RawMessage `json:"error_message"`
		Errors  json.RawMessage `json:"errors"`
		Code    any             `json:"code"`
		Number  any             `json:"error_code"`
		Status  any             `json:"status"`
		Type    flexText        `json:"type"`
		Base    *struct {       // MiniMax
			Code flexInt  `json:"status_code"`
			Text flexText `json:"status_msg"`
		} `json:"base_resp"`
	}
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "[") { // Google wraps its error in an array
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			return serverWords(list[0])
		}
	}
	if json.Unmarshal(body, &doc) != nil {
		if strings.HasPrefix(text, "<") {
			return "", "", "" // a web page explains nothing
		}
		return text, "", ""
	}
	for _, n := range []any{doc.Code, doc.Number, doc.Status} {
		if n != nil && code == "" {
			code = fmt.Sprint(n)
		}
	}
	typ = string(doc.Type)
	if len(doc.Error) > 0 && doc.Error[0] == '{' {
		return serverWords(doc.Error)
	}
	if b := doc.Base; b != nil && b.Code != 0 {
		return string(b.Text), fmt.Sprint(int(b.Code)), typ
	}
	for _, raw := range []json.RawMessage{doc.Error, doc.Message, doc.Detail, doc.Msg, doc.Text, doc.Long, doc.Errors} {
		if !saysSomething(raw) {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s, code, typ
		}
		return string(raw), code, typ
	}
	return text, code, typ
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// refused explains an error that the server itself reported, with its HTTP
// status (0 in the middle of a stream).
func (c *Client) refused(status int, h http.Header, model, words, code, typ string) *fault {
	low := strings.ToLower(code + " " + typ + " " + words)
	f := c.judge(status, cmp.Or(retryAfter(h), askedWait(low)), model, words, low)
	f.status, f.words = status, strings.ToLower(words)
	return f
}

func (c *Client) judge(status int, after time.Duration, model, words, low string) *fault {
	who, said := c.ep.name(), c.quote(words)
	switch {
	case tooLong(status, low):
		return c.fault(sys.CodeContextLength, false, "Start a new session, remove something long, or choose a model with a larger context.",
			"The conversation does not fit the model %s.%s", model, said)
	case containsAny(low, "insufficient_quota", "billing", "credit balance", "insufficient credits", "insufficient balance", "exceeded your current quota") || status == http.StatusPaymentRequired:
		return c.fault(sys.CodeQuota, false, "Add credit at the provider, or choose another provider.", "%s has no credit left for this key.%s", who, said)
	case containsAny(low, "content_policy", "content_filter", "invalid_prompt", "content management policy", "flagged", "safety system"):
		return c.fault(sys.CodeModelRefusal, false, "Say it differently, or choose another model.", "%s declined the request.%s", who, said)
	case status == http.StatusUnauthorized || containsAny(low, "invalid_api_key", "api key not valid", "incorrect api key", "authentication_error"):
		hint := "Check the key in Settings, Models."
		if c.ep.Key == "" {
			hint = "Enter the key in Settings, Models."
		}
		return c.fault(sys.CodeAuth, false, hint, "%s refused the key.%s", who, said)
	case status == http.StatusForbidden:
		return c.fault(sys.CodeAuth, false, "Check that the key may use this model, and that the provider serves your region.", "%s does not allow this.%s", who, said)
	case containsAny(low, "enable-auto-tool-choice", "tool-call-parser", "--jinja"):
		return c.fault(sys.CodeProvider, false, "Start the server with the option that it names, so that the model can use tools, or choose another model.", "%s does not let the model %s use tools.%s", who, model, said)
	case refusesTools(low):
		return c.fault(sys.CodeProvider, false, "Choose a model that can use tools, or switch the tools off.", "The model %s cannot use tools.%s", model, said)
	case loads(status, low):
		f := c.fault(sys.CodeProvider, true, "Wait until the model is loaded, then try again.", "%s is still loading the model %s.%s", who, model, said)
		f.loads, f.after, f.told.Err = true, min(after, maxRetryAfter), ErrTrouble
		return f
	case status == http.StatusTooManyRequests || containsAny(low, "rate_limit"):
		return c.slowDown(after, said)
	case containsAny(low, "model_not_found", "unknown model", "invalid model", "model not found", "no such model", "not a valid model") ||
		(containsAny(low, "model") && containsAny(low, "does not exist", "not found", "not exist", "not loaded")):
		return c.fault(sys.CodeUnknownModel, false, "Choose a model from the list in Settings, Models.", "%s does not know the model %s.%s", who, model, said)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return c.fault(sys.CodeProvider, false, "Check the address: it usually ends with /v1.", "%s has nothing at %s.%s", who, safeURL(c.ep.BaseURL), said)
	case status == http.StatusRequestEntityTooLarge:
		return c.fault(sys.CodeTooLarge, false, "Remove the longest message or picture.", "The request is too large for %s.%s", who, said)
	case status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout:
		return c.fault(sys.CodeTimeout, true, "Try again.", "%s took too long.%s", who, said)
	case status >= 500 || containsAny(low, "overloaded"):
		f := c.fault(sys.CodeProvider, true, "Try again in a minute, or choose another provider.", "%s has trouble of its own%s.%s", who, statusText(status), said)
		f.after, f.told.Err = min(after, maxRetryAfter), ErrTrouble
		return f
	}
	return c.fault(sys.CodeProvider, false, "Correct the request, or choose another model.", "%s rejected the request%s.%s", who, statusText(status), said)
}

// refusesTools reports whether a server says that the model is not served with
// tools.
func refusesTools(low string) bool {
	return containsAny(low, "tool", "function") && containsAny(low,
		"does not support tools", "does not support tool", "not support tool", "tools is not supported", "tools are not supported", "tool use is not supported",
		"tool calling is not supported", "tool calls are not supported", "tool choice is not supported", "that support tool use", "support tool calling",
		"does not support function", "function calling is not supported", "functions are not supported", "not support function", "doesn't support tool", "doesn't support function",
		"tools not supported", "tool use not supported", "without tool support", "no tool support", "unsupported parameter: 'tools'", "unsupported parameter: tools")
}

func (c *Client) slowDown(after time.Duration, said sys.Words) *fault {
	if after > maxRetryAfter {
		return c.fault(sys.CodeQuota, false, "Wait, or choose another provider.",
			"%s accepts no more requests for %s.%s", c.ep.name(), after.Round(time.Second), said)
	}
	f := c.fault(sys.CodeRateLimit, true, "Wait a moment, then try again.", "%s gets too many requests from this key.%s", c.ep.name(), said)
	f.after = after
	return f
}

func statusText(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf(" (HTTP %d)", status)
}

// unreachable explains an error of the network.
func (c *Client) unreachable(err error) *fault {
	var dns *net.DNSError
	var unknownCA x509.UnknownAuthorityError
	var certErr *tls.CertificateVerificationError
	var timeout net.Error
	who, where := c.ep.name(), safeURL(c.ep.BaseURL)
	fail := func(retry bool, hint, format string, args ...any) *fault {
		f := c.fault(sys.CodeNetwork, retry, hint, format, args...)
		// The cause is for logs, but a log must not show the key either.
		f.told.Err = errors.New(c.clean(err.Error(), 1000))
		if retry {
			f.told.Err = fmt.Errorf("%w: %w", ErrUnreachable, f.told.Err)
		}
		return f
	}
	switch {
	case errors.Is(err, errRedirect):
		return fail(false, "Enter the address that it redirects to, if you trust it.", "%s redirects to another host; the key was not sent there.", who)
	case errors.As(err, &unknownCA), errors.As(err, &certErr):
		return fail(false, "If your company inspects traffic, enter its certificate authority as CA file; else do not trust this network.",
			"The certificate of %s cannot be trusted.", who)
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fail(false, "Write http:// in the address.", "%s does not speak HTTPS at %s.", who, where)
	case errors.As(err, &dns):
		return fail(true, "Check the address and the internet connection.", "The host of %s was not found.", where)
	case errors.Is(err, syscall.ECONNREFUSED):
		hint := "Check the address, or whether the server runs."
		if c.ep.Kind != KindOpenAI || isLoopback(c.ep.BaseURL) {
			hint = "Start it, then try again."
		}
		return fail(true, hint, "Nothing answers at %s: %s is not running there.", where, who)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fail(true, "Check the internet connection and the proxy.", "%s could not be reached in time at %s.", who, where)
	case strings.Contains(err.Error(), "proxyconnect"):
		return fail(true, "Check the proxy address.", "The proxy in front of %s did not work.", who)
	}
	return fail(true, "Check the internet connection, then try again.", "The connection to %s failed: %s", who, err)
}

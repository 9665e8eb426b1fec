//nolint:staticcheck // the conformance tests look at what the newest version gives up, too
package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the conformance tests of the protocol expect of the server that they look at: tools, resources and prompts of these
// names, added to the server that programs get.

type (
	request = sdk.CallToolRequest
	reply   = sdk.CallToolResult
)

var (
	png, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	wav, _ = base64.StdEncoding.DecodeString("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
)

const anything = `{"type":"object"}`

func content(all ...sdk.Content) *reply { return &reply{Content: all} }

func embedded(uri string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded resource"}}
}

func object(properties, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
}

// asks answers with requests for input until each of them has been answered.
func asks(state string, then func(*request) (*reply, error), inputs func(*request) sdk.InputRequestMap) sdk.ToolHandler {
	return func(_ context.Context, req *request) (*reply, error) {
		wanted := inputs(req)
		if req.Params.RequestState != "" && strings.HasSuffix(req.Params.RequestState, "-TAMPERED") {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request state is not this server's"}
		}
		for key := range wanted {
			switch r := req.Params.InputResponses[key].(type) {
			case nil:
				return &reply{InputRequests: wanted, RequestState: state}, nil
			case *sdk.ElicitResult:
				if r.Action != "accept" || len(r.Content) == 0 {
					return &reply{InputRequests: wanted, RequestState: state}, nil
				}
			}
		}
		if len(wanted) == 0 {
			return said("nothing that the client offers is needed"), nil
		}
		return then(req)
	}
}

func one(key string, r sdk.InputRequest) func(*request) sdk.InputRequestMap {
	return func(*request) sdk.InputRequestMap { return sdk.InputRequestMap{key: r} }
}

func elicited(req *request, key, field string) string {
	r, _ := req.Params.InputResponses[key].(*sdk.ElicitResult)
	if r == nil {
		return ""
	}
	s, _ := r.Content[field].(string)
	return s
}

func sampled(req *request, key string) string {
	r, _ := req.Params.InputResponses[key].(*sdk.CreateMessageWithToolsResult)
	if r != nil {
		for _, c := range r.Content {
			if t, ok := c.(*sdk.TextContent); ok {
				return t.Text
			}
		}
	}
	return "no text"
}

func askName() sdk.InputRequest {
	return &sdk.ElicitParams{Message: "What is your name?", RequestedSchema: object(`"name":{"type":"string"}`, `"name"`)}
}

func askOK() sdk.InputRequest {
	return &sdk.ElicitParams{Message: "Please confirm", RequestedSchema: object(`"ok":{"type":"boolean"}`, `"ok"`)}
}

func askModel(text string) sdk.InputRequest {
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}
}

func elicit(schema json.RawMessage) sdk.ToolHandler {
	return func(ctx context.Context, req *request) (*reply, error) {
		var in struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
			return nil, err
		}
		if in.Message == "" {
			in.Message = "Please fill this in"
		}
		r, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: in.Message, RequestedSchema: schema})
		if err != nil {
			return nil, err
		}
		return said(fmt.Sprintf("Elicitation result: action=%s, content=%v", r.Action, r.Content)), nil
	}
}

// followsTheirs lets the resources of the tests be followed, as only notes and runs can be: each as a note of its name.
func followsTheirs(next sdk.MethodHandler) sdk.MethodHandler {
	note := func(uri *string) {
		if name, ok := strings.CutPrefix(*uri, "test://"); ok {
			*uri = notes + name
		}
	}
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch p := req.GetParams().(type) {
		case *sdk.SubscribeParams:
			note(&p.URI)
		case *sdk.UnsubscribeParams:
			note(&p.URI)
		}
		return next(ctx, method, req)
	}
}

// fixtures adds all of it.
func fixtures(s *sdk.Server) {
	s.AddReceivingMiddleware(followsTheirs)
	add := func(name, schema string, h sdk.ToolHandler) {
		s.AddTool(&sdk.Tool{Name: name, Description: "For the conformance tests.", InputSchema: json.RawMessage(schema)}, h)
	}
	plainly := func(name string, c ...sdk.Content) {
		add(name, anything, func(context.Context, *request) (*reply, error) { return content(c...), nil })
	}
	words := &sdk.TextContent{Text: "This is a simple text response for testing."}
	plainly("test_simple_text", words)
	plainly("test_image_content", &sdk.ImageContent{Data: png, MIMEType: "image/png"})
	plainly("test_audio_content", &sdk.AudioContent{Data: wav, MIMEType: "audio/wav"})
	plainly("test_embedded_resource", embedded("test://embedded-resource"))
	plainly("test_multiple_content_types", words, &sdk.ImageContent{Data: png, MIMEType: "image/png"}, embedded("test://embedded-in-multiple"))
	plainly("test_streaming_elicitation", words)
	add("test_error_handling", anything, func(context.Context, *request) (*reply, error) {
		return failed(errors.New("this tool intentionally returns an error for testing")), nil
	})
	addTalk(add)
	addSchemas(add)
	addRounds(add)
	add("test_trigger_tool_change", anything, func(context.Context, *request) (*reply, error) {
		plainly("__transient_tool", words)
		return content(words), nil
	})
	add("test_trigger_prompt_change", anything, func(context.Context, *request) (*reply, error) {
		s.AddPrompt(&sdk.Prompt{Name: "__transient_prompt"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{}, nil
		})
		return content(words), nil
	})
	addReadable(s)
}

// addTalk adds what speaks while it works.
func addTalk(add func(name, schema string, h sdk.ToolHandler)) {
	add("test_tool_with_logging", anything, func(ctx context.Context, req *request) (*reply, error) {
		for _, m := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: m}); err != nil {
				return nil, err
			}
		}
		return said("done"), nil
	})
	add("test_logging_tool", anything, func(ctx context.Context, req *request) (*reply, error) {
		return said("done"), req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "executed"})
	})
	add("test_tool_with_progress", anything, func(ctx context.Context, req *request) (*reply, error) {
		token := req.Params.GetProgressToken()
		for _, at := range []float64{0, 50, 100} {
			if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: at, Total: 100}); err != nil {
				return nil, err
			}
		}
		return said(fmt.Sprint(token)), nil
	})
	add("test_sampling", anything, func(ctx context.Context, req *request) (*reply, error) {
		var in struct {
			Prompt string `json:"prompt"`
		}
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
			return nil, err
		}
		r, err := req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: in.Prompt}}}})
		if err != nil {
			return nil, err
		}
		t, _ := r.Content.(*sdk.TextContent)
		return said("LLM response: " + t.Text), nil
	})
	add("test_missing_capability", anything, func(_ context.Context, req *request) (*reply, error) {
		if caps := req.ClientCapabilities(); caps != nil && caps.Sampling != nil {
			return said("done"), nil
		}
		data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "sampling is needed", Data: data}
	})
	add("test_reconnection", anything, func(_ context.Context, req *request) (*reply, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(100 * time.Millisecond) // the scenario measures that the client comes back meanwhile
		return said("done"), nil
	})
}

// addSchemas adds what is about schemas.
func addSchemas(add func(name, schema string, h sdk.ToolHandler)) {
	add("test_elicitation", anything, elicit(object(`"username":{"type":"string"}`, `"username"`)))
	add("test_elicitation_sep1034_defaults", anything, elicit(object(`"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
		"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}`, "")))
	add("test_elicitation_sep1330_enums", anything, elicit(object(`"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}`, "")))
	add("json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`,
		func(_ context.Context, req *request) (*reply, error) { return said(string(req.Params.Arguments)), nil })
	add("test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`,
		func(_ context.Context, req *request) (*reply, error) { return said(string(req.Params.Arguments)), nil })
}

// addRounds adds what needs input before it can answer.
func addRounds(add func(name, schema string, h sdk.ToolHandler)) {
	input := func(name, state string, then func(*request) (*reply, error), inputs func(*request) sdk.InputRequestMap) {
		add("test_input_required_result_"+name, anything, asks(state, then, inputs))
	}
	greet := func(r *request) (*reply, error) { return said("Hello, " + elicited(r, "user_name", "name") + "!"), nil }
	sealed := func(*request) (*reply, error) {
		return said("state-ok: requestState received and confirmation accepted"), nil
	}
	input("elicitation", "", greet, one("user_name", askName()))
	input("sampling", "", func(r *request) (*reply, error) {
		return said("Sampling response: " + sampled(r, "capital_question")), nil
	}, one("capital_question", askModel("What is the capital of France?")))
	input("list_roots", "", func(r *request) (*reply, error) {
		roots, _ := r.Params.InputResponses["client_roots"].(*sdk.ListRootsResult)
		return said(fmt.Sprintf("Client exposed %d roots", len(roots.Roots))), nil
	}, one("client_roots", &sdk.ListRootsParams{}))
	input("request_state", "request_state", sealed, one("confirm", askOK()))
	input("tampered_state", "tampered_state", sealed, one("confirm", askOK()))
	input("multiple_inputs", "multiple_inputs", greet, func(*request) sdk.InputRequestMap {
		return sdk.InputRequestMap{"user_name": askName(), "greeting": askModel("Generate a greeting"), "client_roots": &sdk.ListRootsParams{}}
	})
	input("capabilities", "", func(*request) (*reply, error) { return said("done"), nil }, func(r *request) sdk.InputRequestMap {
		all, caps := sdk.InputRequestMap{}, r.ClientCapabilities()
		if caps != nil && caps.Elicitation != nil {
			all["user_name"] = askName()
		}
		if caps != nil && caps.Sampling != nil {
			all["greeting"] = askModel("Generate a short greeting")
		}
		return all
	})
	add("test_input_required_result_multi_round", anything, func(_ context.Context, req *request) (*reply, error) {
		name, second := strings.CutPrefix(req.Params.RequestState, "name=")
		switch {
		case second:
			return said(name + " likes " + elicited(req, "step2", "color")), nil
		case req.Params.RequestState == "first":
			return &reply{RequestState: "name=" + elicited(req, "step1", "name"), InputRequests: sdk.InputRequestMap{"step2": &sdk.ElicitParams{Message: "Which colour?", RequestedSchema: object(`"color":{"type":"string"}`, `"color"`)}}}, nil
		}
		return &reply{RequestState: "first", InputRequests: sdk.InputRequestMap{"step1": askName()}}, nil
	})
}

// addReadable adds resources and prompts.
func addReadable(s *sdk.Server) {
	body := func(kind string, blob []byte) sdk.ResourceHandler {
		return func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			c := &sdk.ResourceContents{URI: r.Params.URI, MIMEType: kind, Blob: blob}
			if blob == nil {
				c.Text = fmt.Sprintf(`{"uri": %q, "id": %q, "templateTest": true}`, r.Params.URI, strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data"))
			}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
		}
	}
	s.AddResource(&sdk.Resource{Name: "static-text", URI: "test://static-text", MIMEType: "text/plain"}, body("text/plain", nil))
	s.AddResource(&sdk.Resource{Name: "static-binary", URI: "test://static-binary", MIMEType: "image/png"}, body("image/png", png))
	s.AddResource(&sdk.Resource{Name: "watched-resource", URI: "test://watched-resource", MIMEType: "text/plain"}, body("text/plain", nil))
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"}, body("application/json", nil))

	say := func(args []*sdk.PromptArgument, name string, make func(map[string]string) []sdk.Content) {
		s.AddPrompt(&sdk.Prompt{Name: name, Description: "For the conformance tests.", Arguments: args}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			out := &sdk.GetPromptResult{}
			for _, c := range make(r.Params.Arguments) {
				out.Messages = append(out.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return out, nil
		})
	}
	needs := func(names ...string) (out []*sdk.PromptArgument) {
		for _, n := range names {
			out = append(out, &sdk.PromptArgument{Name: n, Description: "An argument", Required: true})
		}
		return out
	}
	say(nil, "test_simple_prompt", func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.TextContent{Text: "A simple prompt."}}
	})
	say(needs("arg1", "arg2"), "test_prompt_with_arguments", func(a map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])}}
	})
	say(needs("resourceUri"), "test_prompt_with_embedded_resource", func(a map[string]string) []sdk.Content {
		return []sdk.Content{embedded(a["resourceUri"]), &sdk.TextContent{Text: "Please process it."}}
	})
	say(nil, "test_prompt_with_image", func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.ImageContent{Data: png, MIMEType: "image/png"}, &sdk.TextContent{Text: "Please look at it."}}
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "For the conformance tests."}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if a, ok := r.Params.InputResponses["user_context"].(*sdk.ElicitResult); ok && a.Action == "accept" {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: fmt.Sprintf("Context: %v", a.Content["context"])}}}}, nil
		}
		return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": &sdk.ElicitParams{Message: "Which context?", RequestedSchema: object(`"context":{"type":"string"}`, `"context"`)}}}, nil
	})
}

package mcp

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The bounds of what a server may ask at once.
const (
	maxFields  = 30
	maxOptions = 100
	maxMessage = 2000 // characters
	maxAddress = 2000
	maxPattern = 500
)

// property is one property of a form's schema, as the protocol knows them in all of its versions.
type property struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Format      string          `json:"format"`
	Pattern     string          `json:"pattern"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []named         `json:"oneOf"`
	AnyOf       []named         `json:"anyOf"`
	Items       *property       `json:"items"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinLength   *float64        `json:"minLength"`
	MaxLength   *float64        `json:"maxLength"`
	MinItems    *float64        `json:"minItems"`
	MaxItems    *float64        `json:"maxItems"`
	Default     json.RawMessage `json:"default"`
}

type named struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// formOf makes a form of what a server asks, or says why the person is not asked.
func formOf(server string, p *sdk.ElicitParams) (f security.Form, why sys.Words) {
	f = security.Form{Server: server, Message: sys.Shorten(strings.TrimSpace(strings.ToValidUTF8(p.Message, "�")), maxMessage)}
	if p.Mode == "url" || p.URL != "" {
		return addressOf(f, p.URL)
	}
	var schema struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	raw, err := json.Marshal(p.RequestedSchema)
	if err == nil && len(raw) > maxSchema {
		return f, sys.Say("The server %s asked for more than fits a form, so the person was not asked.", server)
	}
	if err == nil {
		err = json.Unmarshal(raw, &schema)
	}
	if err != nil || len(schema.Properties) > maxFields {
		return f, sys.Say("The server %s asked for more than fits a form, so the person was not asked.", server)
	}
	place := func(name string) int { // what is needed comes first, in the server's order
		if i := slices.Index(schema.Required, name); i >= 0 {
			return i
		}
		return len(schema.Required)
	}
	names := make([]string, 0, len(schema.Properties))
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(place(a)-place(b), strings.Compare(a, b)) })
	for _, name := range names {
		x, ok := schema.Properties[name].field(name)
		if !ok {
			return f, sys.Say("The server %s asked for more than fits a form, so the person was not asked.", server)
		}
		x.Required = slices.Contains(schema.Required, name)
		if x.secret(f.Message) {
			return f, sys.Say("The server %s asked for something that looks like a secret (%s). Oxios never passes secrets on this way, so the person was not asked.", server, cmp.Or(plain(x.Title, 60), plain(x.Name, 60)))
		}
		f.Fields = append(f.Fields, x.FormField)
	}
	return f, sys.Words{}
}

// formField is a field with what is needed to judge it.
type formField struct{ security.FormField }

func (p property) field(name string) (formField, bool) {
	x := security.FormField{
		Name: name, Title: sys.Shorten(p.Title, 100), About: sys.Shorten(p.Description, 500), Kind: security.FieldText,
		Format: p.Format, Pattern: p.Pattern, Min: p.MinLength, Max: p.MaxLength, Default: p.Default,
	}
	switch p.Type {
	case "boolean":
		x.Kind, x.Min, x.Max = security.FieldBoolean, nil, nil
	case "number", "integer":
		x.Kind, x.Min, x.Max = security.FieldNumber, p.Minimum, p.Maximum
		if p.Type == "integer" {
			x.Kind = security.FieldInteger
		}
	case "array":
		if p.Items == nil {
			return formField{x}, false
		}
		x.Kind, x.Min, x.Max, x.Options = security.FieldChoices, p.MinItems, p.MaxItems, p.Items.options()
	case "string":
		if x.Options = p.options(); len(x.Options) > 0 {
			x.Kind, x.Min, x.Max = security.FieldChoice, nil, nil
		}
	default:
		return formField{x}, false
	}
	choice := x.Kind == security.FieldChoice || x.Kind == security.FieldChoices
	ok := len(name) <= 200 && len(x.Pattern) <= maxPattern && len(x.Default) <= maxSchema && len(x.Options) <= maxOptions && (!choice || len(x.Options) > 0)
	return formField{x}, ok
}

// options are the values that a property offers, however it writes them.
func (p property) options() (list []security.FormOption) {
	for i, value := range p.Enum {
		o := security.FormOption{Value: value}
		if i < len(p.EnumNames) {
			o.Title = sys.Shorten(p.EnumNames[i], 200)
		}
		list = append(list, o)
	}
	for _, n := range append(p.OneOf, p.AnyOf...) {
		list = append(list, security.FormOption{Value: n.Const, Title: sys.Shorten(n.Title, 200)})
	}
	return list
}

// addressOf is the form of a server that wants an address to be opened.
func addressOf(f security.Form, address string) (security.Form, sys.Words) {
	u, err := url.Parse(address)
	bad := err != nil || len(address) > maxAddress || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' })
	if bad || u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1") || u.Hostname() == "" || u.User != nil {
		return f, sys.Say("The server %s wanted to open an address that is not a plain https address, so the person was not asked.", f.Server)
	}
	f.URL, f.Host = address, u.Host
	return f, sys.Words{}
}

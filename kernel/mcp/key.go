package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"oxios/kernel/guard"
	"oxios/kernel/sys"
)

// clientSecret is the key with which Oxios proves to an authorization server that it is the client_id of config.toml.
const clientSecret = "client_secret"

// keyName is the name of a key of a server in the credential store; "" is that of its sign-in.
func keyName(server, key string) string {
	if key == "" {
		return "mcp:" + server
	}
	return "mcp:" + server + ":" + strings.ToLower(key)
}

// SetKey keeps the value of a header that a server needs, or its "client_secret", bound to the server's machine; "" deletes it.
// The value goes to the credential store, and to no file that people share.
func (a *API) SetKey(ctx context.Context, name, key, value string) (ServerView, error) {
	meta := map[string]any{"key": sys.Shorten(key, 64), "set": value != ""}
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.setKey", Resource: "mcp:" + name, Meta: meta}, func(ctx context.Context) (ServerView, error) {
		def, err := a.s.server(name)
		if err != nil {
			return ServerView{}, err
		}
		isHeader := slices.ContainsFunc(def.Headers, func(h string) bool { return strings.EqualFold(h, key) })
		switch {
		case !def.remote() && !slices.Contains(def.Secrets, key):
			return ServerView{}, sys.Errorf(sys.CodeInvalid, "The server %s has no variable %q among its secrets in config.toml. Nothing was changed.", name, sys.Shorten(key, 64)).
				WithHint("Add the server with it: `oxios mcp add NAME --env %s=VALUE -- COMMAND`.", sys.Shorten(key, 64))
		case !def.remote() && value == "":
			err = a.s.forget(ctx, secretName(name, key))
		case !def.remote():
			a.s.c.Secret(value)
			_, err = a.s.c.Keys.Set(ctx, secretName(name, key), thisComputer, value)
		case !isHeader && (key != clientSecret || def.ClientID == ""):
			return ServerView{}, sys.Errorf(sys.CodeInvalid, "The server %s has no header %q in config.toml. Nothing was changed.", name, sys.Shorten(key, 64)).
				WithHint("Add the server with it: `oxios mcp add NAME --url URL --header %s`.", sys.Shorten(key, 64))
		case value == "":
			err = a.s.forget(ctx, keyName(name, key))
		default:
			a.s.c.Secret(bare(value))
			_, err = a.s.c.Keys.Set(ctx, keyName(name, key), def.URL, value)
		}
		if err != nil {
			return ServerView{}, err
		}
		a.s.stop(name) // the next call is made with it
		a.s.c.Told(name)
		return a.s.view(name, def), nil
	})
}

// bare is the secret of a header without the word in front of it.
func bare(value string) string {
	if kind, rest, ok := strings.Cut(strings.TrimSpace(value), " "); ok && (strings.EqualFold(kind, "Bearer") || strings.EqualFold(kind, "Basic") || strings.EqualFold(kind, "Token")) {
		return strings.TrimSpace(rest)
	}
	return value
}

// secret is a client_secret with the authorization server that it is for: "" until somebody signed in with it.
type secret struct {
	Secret string `json:"secret"`
	Issuer string `json:"issuer"`
}

// secretOf is the client_secret of a server; none is the zero value.
func (s *Service) secretOf(ctx context.Context, name string, def Server) (secret, error) {
	raw, err := s.c.Keys.Get(ctx, keyName(name, clientSecret), def.URL)
	if sys.CodeOf(err) == sys.CodeNotFound {
		return secret{}, nil
	}
	if err != nil {
		return secret{}, err
	}
	var bound secret
	if json.Unmarshal([]byte(raw), &bound) != nil || bound.Secret == "" || bound.Issuer == "" {
		bound = secret{Secret: raw} // as the person entered it
	}
	s.c.Secret(bound.Secret)
	return bound, nil
}

// bindSecret notes for which authorization server the client_secret is that somebody signed in with. Whoever calls it is alone.
func (s *Service) bindSecret(ctx context.Context, name string, def Server, g grant) error {
	if def.ClientID == "" || g.Client.Secret == "" {
		return nil
	}
	has, err := s.secretOf(ctx, name, def)
	if err != nil || has.Issuer != "" || has.Secret != g.Client.Secret {
		return err
	}
	raw, err := json.Marshal(secret{Secret: has.Secret, Issuer: g.Issuer})
	if err == nil {
		_, err = s.c.Keys.Set(ctx, keyName(name, clientSecret), def.URL, string(raw))
	}
	return err
}

// forget deletes a key; one that is not there is deleted already.
func (s *Service) forget(ctx context.Context, key string) error {
	if err := s.c.Keys.Delete(ctx, key); err != nil && sys.CodeOf(err) != sys.CodeNotFound {
		return err
	}
	return nil
}

// headersOf are the headers of the person that a server gets.
func (s *Service) headersOf(ctx context.Context, name string, def Server) (http.Header, error) {
	out := http.Header{}
	for _, h := range def.Headers {
		value, err := s.c.Keys.Get(ctx, keyName(name, h), def.URL)
		if sys.CodeOf(err) == sys.CodeNotFound {
			return nil, sys.Errorf(sys.CodeAuth, "The server %s needs a value for the header %s. Nothing was called.", name, h).
				WithHint("Enter it: `oxios mcp key %s %s`.", name, h)
		}
		if err != nil {
			return nil, err
		}
		s.c.Secret(bare(value))
		out.Set(h, value)
	}
	return out, nil
}

// forgetKeys deletes all keys of a server, and its sign-in. What cannot be deleted is told.
func (s *Service) forgetKeys(ctx context.Context, name string, def Server) error {
	var all []string
	for _, v := range def.Secrets {
		all = append(all, secretName(name, v))
	}
	if def.remote() {
		for _, key := range append([]string{"", clientSecret}, def.Headers...) {
			all = append(all, keyName(name, key))
		}
	}
	var failed error
	for _, key := range all {
		if err := s.forget(ctx, key); err != nil {
			failed = err
		}
	}
	return failed
}

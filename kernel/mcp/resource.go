package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Resources is what servers have to read, without what it says.
type Resources struct {
	Items []Resource `json:"items"`
	Left  int        `json:"left,omitempty"` // how many more there are, at least
}

// ReadInput names a resource.
type ReadInput struct {
	Server string `json:"server"`
	URI    string `json:"uri"`

	Whole bool `json:"-"` // all of a long text; the kernel keeps it
}

// ReadResult is what a resource holds.
type ReadResult struct {
	Text string `json:"text"`
	MIME string `json:"mime,omitempty"`
	Cut  int    `json:"cut,omitempty"`  // bytes in the middle that were left out
	More string `json:"more,omitempty"` // the id under which all of it can be read, where some was left out

	Pictures []Picture `json:"-"`
}

// Picture is one that a server sent, as it came.
type Picture struct {
	MIME string
	Data []byte
}

// among are the servers that are asked of: one, or with "" all that can be.
func (s *Service) among(name string) (names []string, err error) {
	if name != "" {
		def, err := s.server(name)
		if err == nil {
			_, err = s.ready(name, def)
		}
		return []string{name}, err
	}
	set := s.settings()
	for _, n := range slices.Sorted(maps.Keys(set.Servers)) {
		if s.view(n, set.Servers[n]).offers() {
			names = append(names, n)
		}
	}
	return names, nil
}

// Having are the servers that have resources or prompts. The kernel asks it when it makes the tools of a run.
func (s *Service) Having() (names []string) {
	all, err := s.among("")
	for _, n := range all {
		def, derr := s.server(n)
		if err == nil && derr == nil {
			if o := s.has(n, def); len(o.Resources)+len(o.Prompts) > 0 {
				names = append(names, n)
			}
		}
	}
	return names
}

// brings are the labels of what several servers said.
func (s *Service) brings(names []string, about string) func(context.Context) (store.Labels, error) {
	return func(context.Context) (all store.Labels, _ error) {
		for _, n := range names {
			all = all.Join(s.c.Brings(n, about))
		}
		return all, nil
	}
}

// Resources lists what a server has to read, or with "" all servers that are on. It starts none: a server that does not run is
// shown as it was known.
func (a *API) Resources(ctx context.Context, server string) (Resources, error) {
	names, err := a.s.among(server)
	act := guard.Action{Call: "mcp.resources", Resource: "mcp:" + sys.Shorten(server, 100), Brought: a.s.brings(names, "resources")}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (Resources, error) {
		if err != nil {
			return Resources{}, err
		}
		a.s.refresh(ctx, server)
		out := Resources{Items: []Resource{}}
		for _, n := range names {
			if def, err := a.s.server(n); err == nil {
				o := a.s.has(n, def)
				out.Items = append(out.Items, o.Resources...)
				out.Left += o.Left
			}
		}
		return out, nil
	})
}

// Read reads a resource of a server, which is started if it does not run. The URI is a name for the server alone. What comes
// back was said by a stranger: an agent's run carries that from then on.
func (a *API) Read(ctx context.Context, in ReadInput) (ReadResult, error) {
	def, err := a.s.server(in.Server)
	if err == nil {
		_, err = a.s.ready(in.Server, def)
	}
	if err == nil && !nameable(in.URI, maxURI) {
		err = sys.Errorf(sys.CodeInvalid, "This is not the URI of a resource: it is empty, too long, or holds characters that cannot be seen. Nothing was read.")
	}
	short := sys.Shorten(in.URI, 200)
	act := guard.Action{Call: "mcp.read", Resource: "mcp:" + in.Server + "/" + short, Meta: map[string]any{"server": in.Server, "uri": short}}
	if err == nil {
		act = a.weigh(act, in.Server, in.URI, def, in, func(r *security.Request) {
			title := sys.Say("Reads a resource of the server %s", in.Server)
			r.Title, r.TitleKO, r.Command = title.EN, title.In(true), in.URI
		})
	}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (ReadResult, error) {
		if err != nil {
			return ReadResult{}, err
		}
		if now, nerr := a.s.server(in.Server); nerr != nil || !now.runsAs(def) || now.Effect != def.Effect {
			return ReadResult{}, changedMeanwhile(in.Server)
		}
		return a.s.readResource(ctx, a.c, in, def)
	})
}

func (s *Service) readResource(ctx context.Context, c *guard.Caller, in ReadInput, def Server) (out ReadResult, err error) {
	params := &sdk.ReadResourceParams{URI: in.URI, Meta: sdk.Meta{}}
	var got *sdk.ReadResourceResult
	err = s.request(ctx, c, in.Server, def, "the resource", params, func(ctx context.Context, session *sdk.ClientSession) (err error) {
		if caps := session.InitializeResult().Capabilities; caps == nil || caps.Resources == nil {
			return sys.Errorf(sys.CodeNotFound, "The server %s has no resources. Nothing was read.", in.Server)
		}
		got, err = session.ReadResource(ctx, params)
		return err
	})
	if err != nil {
		return ReadResult{}, err
	}
	var parts []string
	for i, r := range got.Contents {
		if r == nil {
			continue
		}
		if i == 0 {
			out.MIME = plain(r.MIMEType, 80)
		}
		if len(r.Blob) > 0 && strings.HasPrefix(r.MIMEType, "image/") {
			out.Pictures = append(out.Pictures, Picture{MIME: r.MIMEType, Data: r.Blob})
		}
		switch {
		case len(got.Contents) == 1 && len(r.Blob) == 0:
			parts = append(parts, r.Text)
		default:
			parts = append(parts, contentsText(r))
		}
	}
	out.Text = s.c.Mask(strings.ToValidUTF8(strings.Join(parts, "\n\n"), "�"))
	if !in.Whole {
		out.Text, out.Cut, out.More = cut(out.Text, maxResult, func(all string) string { return s.c.Keep(c, all) })
	}
	return out, nil
}

// Cut keeps the first and the last bytes of what a server said, as of a result of a tool, and says how many are gone and how
// they can be read: under the id that keep returns.
func Cut(text string, keep func(string) string) (short string, left int, id string) {
	return cut(text, maxResult, keep)
}

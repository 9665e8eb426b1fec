package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/sys"
)

// The bounds of what a server may want to be opened before it answers.
const (
	maxOpen       = 5 // addresses of one answer
	maxOpenRounds = 3 // answers of one call that want more
)

// openFirst has the person open the addresses that a server wants to be visited before it does what was asked of it
// (URL elicitation required, error -32042), and asks it again after they said that they are done.
func (l *live) openFirst(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		for range maxOpenRounds {
			r, err := next(ctx, method, req)
			refused, ok := errors.AsType[*jsonrpc.Error](err)
			if !ok || refused.Code != sdk.CodeURLElicitationRequired || l.call(ctx) == nil {
				return r, err
			}
			if err := l.open(ctx, refused.Data); err != nil {
				l.call(ctx).deny(err)
				return nil, err
			}
		}
		err := sys.Errorf(sys.CodeUnavailable, "The server %s wants addresses opened again and again, so it was not asked any more.", l.name)
		l.call(ctx).deny(err)
		return nil, err
	}
}

// open has the person open each of the addresses, and says why one of them was not.
func (l *live) open(ctx context.Context, data json.RawMessage) error {
	var wants struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	if err := json.Unmarshal(data, &wants); err != nil || len(wants.Elicitations) == 0 || len(wants.Elicitations) > maxOpen {
		return sys.Errorf(sys.CodeUnavailable, "The server %s wants addresses opened first, but does not say which, or too many.", l.name)
	}
	for _, p := range wants.Elicitations {
		if p == nil || p.Mode != "url" {
			return sys.Errorf(sys.CodeUnavailable, "The server %s wants addresses opened first, but does not say which, or too many.", l.name)
		}
		if _, why := formOf(l.name, p); why.EN != "" {
			return sys.Errorf(sys.CodeRefused, "%s", why)
		}
		said, err := l.elicit(ctx, &sdk.ElicitRequest{Params: p})
		if err != nil {
			return err
		}
		if said.Action != "accept" {
			return sys.Errorf(sys.CodeDenied, "The server %s wants an address opened first, and the person did not open it. Nothing was called.", l.name)
		}
	}
	return nil
}

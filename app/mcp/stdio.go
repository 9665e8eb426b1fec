package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/app/remote"
)

// maxLine bounds a message.
const maxLine = 4 << 20

// Stdio serves one program over two streams until the first of them or ctx ends. h is the kernel as that program sees it.
func Stdio(ctx context.Context, h *remote.Handle, version string, in io.ReadCloser, out io.WriteCloser, log *slog.Logger) error {
	f, err := newFace(ctx, h, version, log)
	if err != nil {
		return err
	}
	f.answers = true // the kernel knows which process has this Handle
	s, err := f.server()
	if err != nil {
		return err
	}
	err = s.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: maxLine})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

func newFace(ctx context.Context, h *remote.Handle, version string, log *slog.Logger) (*face, error) {
	self, err := h.Clients.Self(ctx)
	if err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails: since Go 1.24 a system without randomness ends the process
	return &face{h: h, self: self, key: key, version: version, log: log}, nil
}

package mcp_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"oxios/kernel/mcp"
	"oxios/kernel/parttest"
)

// none is a config.toml without servers.
type none struct{}

func (none) MCP() mcp.Settings                      { return mcp.Settings{} }
func (none) SetMCPServer(string, *mcp.Server) error { return os.ErrInvalid }

func TestTheServiceIsAPart(t *testing.T) {
	parttest.Run(t, func(t *testing.T) parttest.Part {
		return mcp.New(mcp.Config{Dir: t.TempDir(), Clock: time.Now, Log: slog.New(slog.DiscardHandler), Settings: none{}, Told: func(string) {}})
	})
}

func TestWhatCannotBeAServerIsSaid(t *testing.T) {
	t.Parallel()
	same := func(p string) string { return p }
	for name, tc := range map[string]struct {
		name string
		def  mcp.Server
		ok   bool
	}{
		"plain":            {"files", mcp.Server{Command: "x"}, true},
		"all of it":        {"a-1", mcp.Server{Command: "x", Args: []string{"-y"}, Read: []string{"/a"}, Write: []string{"/b"}, Env: map[string]string{"A": "b"}, Effect: "network"}, true},
		"capital letters":  {"Files", mcp.Server{Command: "x"}, false},
		"a joint":          {"a__b", mcp.Server{Command: "x"}, false},
		"a path":           {"../x", mcp.Server{Command: "x"}, false},
		"too long":         {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", mcp.Server{Command: "x"}, false},
		"no command":       {"a", mcp.Server{Command: " "}, false},
		"a wide effect":    {"a", mcp.Server{Command: "x", Effect: "all"}, false},
		"a relative path":  {"a", mcp.Server{Command: "x", Write: []string{"b"}}, false},
		"no name of a var": {"a", mcp.Server{Command: "x", Env: map[string]string{"A=B": "c"}}, false},
	} {
		if err := mcp.CheckServer(tc.name, tc.def, same); (err == nil) != tc.ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

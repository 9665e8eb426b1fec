package mcp

import (
	"maps"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxExtensions is how many extensions of a server are shown.
const maxExtensions = 20

// extensionsOf are the extensions of the protocol that a server says it uses.
func extensionsOf(caps *sdk.ServerCapabilities) (names []string) {
	if caps == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(caps.Extensions)) {
		if name = plain(name, 100); name != "" && len(names) < maxExtensions {
			names = append(names, name)
		}
	}
	return names
}

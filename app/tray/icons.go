//go:build !windows

package tray

import _ "embed" // the icons below

var (
	//go:embed icons/idle.png
	iconIdle []byte
	//go:embed icons/running.png
	iconRunning []byte
	//go:embed icons/waiting.png
	iconWaiting []byte
	//go:embed icons/paused.png
	iconPaused []byte
	//go:embed icons/problem.png
	iconProblem []byte
)

// Icons holds the tray's image for each state: idle, running, waiting, paused and problem.
// Each is a PNG of 48 pixels with an outline, because a tray takes one image and does not say whether its panel is light or dark.
var Icons = map[string][]byte{
	"idle":    iconIdle,
	"running": iconRunning,
	"waiting": iconWaiting,
	"paused":  iconPaused,
	"problem": iconProblem,
}

package tray

import _ "embed" // the icons below

var (
	//go:embed icons/idle.ico
	iconIdle []byte
	//go:embed icons/running.ico
	iconRunning []byte
	//go:embed icons/waiting.ico
	iconWaiting []byte
	//go:embed icons/paused.ico
	iconPaused []byte
	//go:embed icons/problem.ico
	iconProblem []byte
)

// Icons holds the tray's image for each state: idle, running, waiting, paused and problem.
// Each is an .ico of 16 to 48 pixels: Windows takes no other format.
var Icons = map[string][]byte{
	"idle":    iconIdle,
	"running": iconRunning,
	"waiting": iconWaiting,
	"paused":  iconPaused,
	"problem": iconProblem,
}

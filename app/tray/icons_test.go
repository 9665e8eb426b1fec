//go:build !windows

package tray

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"
)

func TestEveryStateHasItsOwnIconThatReadsOnLightAndDarkPanels(t *testing.T) {
	t.Parallel()

	seen := map[string]string{}
	for _, state := range []string{"idle", "running", "waiting", "paused", "problem"} {
		icon := Icons[state]
		img, err := png.Decode(bytes.NewReader(icon))
		if err != nil {
			t.Fatalf("icon %q: %v", state, err)
		}
		if size := img.Bounds().Size(); size.X != 48 || size.Y != 48 {
			t.Errorf("icon %q: got %v, want 48×48", state, size)
		}
		if other, ok := seen[string(icon)]; ok {
			t.Errorf("icons %q and %q are the same picture", state, other)
		}
		seen[string(icon)] = state

		// A light line alone vanishes on a light panel, a dark one on a dark panel: both must be there.
		var light, dark int
		for y := range 48 {
			for x := range 48 {
				c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
				switch {
				case c.A > 200 && c.R > 230 && c.G > 230 && c.B > 230:
					light++
				case c.A > 200 && c.R < 50 && c.G < 50 && c.B < 50:
					dark++
				}
			}
		}
		if light < 100 || dark < 100 {
			t.Errorf("icon %q: got %d light and %d dark pixels, want at least 100 of each", state, light, dark)
		}
	}
	if len(Icons) != len(seen) {
		t.Errorf("got %d icons, want %d", len(Icons), len(seen))
	}
}

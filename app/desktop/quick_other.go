//go:build (desktop || dev || bindings) && !linux

package desktop

import (
	"context"
	"syscall"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
)

func showPrompt(ctx context.Context) {
	wails.WindowCenter(ctx)
	wails.WindowShow(ctx)
}

func resizePrompt(ctx context.Context, width, height int) { wails.WindowSetSize(ctx, width, height) }

func blends() bool { return false }

func detached() *syscall.SysProcAttr { return nil }

//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	runtime "github.com/wailsapp/wails/v2/pkg/runtime"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// The quick prompt's window, in pixels. It is as high as the page wants.
const (
	quickWidth  = 660
	quickHeight = 100 // until the page is there
	quickMargin = 24  // for the shadow on each side, where the screen blends windows
)

// quickIdle is how long the quick prompt lives while it is hidden.
const quickIdle = 10 * time.Minute

// quick is the quick prompt: a small window in a process of its own, because
// Wails has one window, and a client of the home's socket. It is shown by the
// first start and by each later one, hides instead of closing, and ends when it
// was hidden for long or when the kernel has ended.
type quick struct {
	home     string
	frontend fs.FS
	log      *slog.Logger
	idle     time.Duration
	kernel   *attachment
	events   *Events

	life   context.Context // ends with the process
	cancel context.CancelFunc
	work   sync.WaitGroup
	wctx   context.Context // Wails' own
	ready  chan struct{}   // closed when wctx is set
	begun  sync.Once
	done   sync.Once
	ended  chan struct{} // closed when the event loop has ended
	again  atomic.Bool   // start again after the end

	mu    sync.Mutex
	page  bool // it listens
	shown bool // it is, or will be when the page is there
	lost  bool // there is no kernel any more
	over  *time.Timer
}

// quickMain shows the quick prompt of the home, in this process or in the one
// that has it, and returns the exit code.
func quickMain(args []string, d Deps) int {
	idle, err := quickArgs(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return fail(err)
	}
	home, err := kernel.DefaultHome()
	if err != nil {
		return fail(err)
	}
	mine, err := claim(context.Background(), home, "quick", handover{})
	if err != nil {
		return fail(err)
	}
	if mine == nil {
		return 0
	}
	code, again := quickWindow(mine, home, idle, d)
	if again {
		return restart(append([]string{quickCommand}, args...))
	}
	return code
}

// quickCommand is the argument that makes this program the quick prompt.
const quickCommand = "quick"

func quickArgs(args []string) (idle time.Duration, err error) {
	flags := flag.NewFlagSet(quickCommand, flag.ContinueOnError)
	flags.SetOutput(os.Stdout)
	korean := speaksKorean("auto", os.Getenv)
	say := func(en, ko string) string {
		if korean {
			return ko
		}
		return en
	}
	flags.DurationVar(&idle, "idle", quickIdle, say("end after being hidden for so long, like 10m", "숨은 채로 이만큼 지나면 끝냅니다(예: 10m)"))
	flags.Usage = func() {
		fmt.Println(say("oxios-desktop quick shows the quick prompt: one field that answers in place.\nWhere Oxios does not run yet, it is started in the tray. Bind this command to keys\nin the settings of your desktop if Oxios cannot hold keys itself.\n\nOptions:",
			"oxios-desktop quick은 빠른 질문 창을 엽니다. 한 줄로 묻고 그 자리에서 답을 봅니다.\nOxios가 실행 중이 아니면 트레이에서 시작합니다. Oxios가 직접 단축키를 쓸 수 없으면\n데스크톱 설정에서 이 명령에 키를 지정하세요.\n\n옵션:"))
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	if flags.NArg() > 0 || idle <= 0 {
		return 0, sys.Errorf(sys.CodeInvalid, "The quick prompt takes no arguments, and its time must be above zero.").WithHint("See `oxios-desktop quick --help`.")
	}
	return idle, nil
}

func quickWindow(mine *instance, home string, idle time.Duration, d Deps) (code int, again bool) {
	defer mine.close()
	if why := noDisplay(); why != "" {
		return fail(sys.Errorf(sys.CodeUnavailable, "%s, so the quick prompt cannot be shown.", why).WithHint("`oxios run` asks from a terminal.")), false
	}
	log, closeLog := openLog(home, "quick.log")
	defer closeLog()
	q := newQuick(home, d, log, idle)
	stopSignals := onSignal(q.quit, os.Interrupt, syscall.SIGTERM)
	defer stopSignals()
	q.start(mine)
	keepBack()
	err := wails.Run(q.options())
	close(q.ended)
	over := time.AfterFunc(quitPatience, func() { os.Exit(0) }) // it owns nothing that could be left half done
	defer over.Stop()
	q.close()
	if err != nil {
		return fail(err), false
	}
	return 0, q.again.Load()
}

func newQuick(home string, d Deps, log *slog.Logger, idle time.Duration) *quick {
	q := &quick{home: home, frontend: d.Frontend, log: log, idle: idle, kernel: newAttachment(home, d, log), ready: make(chan struct{}), ended: make(chan struct{}), shown: true}
	q.life, q.cancel = context.WithCancel(context.Background())
	q.over = time.AfterFunc(idle, q.quit)
	q.over.Stop()
	q.events = &Events{kernel: q.kernel.current, ready: func() {}, emit: q.emit}
	return q
}

func (q *quick) options() *options.App {
	return &options.App{
		Title: "Oxios, quick prompt", Width: quickWidth, Height: quickHeight,
		Frameless: true, AlwaysOnTop: true, StartHidden: true,
		// Where the screen can blend windows the page draws their corners and shadow.
		BackgroundColour: options.NewRGBA(0, 0, 0, 0),
		AssetServer:      &assetserver.Options{Assets: q.frontend},
		OnStartup:        q.startup,
		OnBeforeClose:    q.beforeClose,
		Bind:             append(Bindings(func() context.Context { return q.life }, q.kernel.reach), q.events, &Quick{q}),
		Linux:            &linux.Options{ProgramName: "oxios", WebviewGpuPolicy: linux.WebviewGpuPolicyNever, WindowIsTranslucent: true},
	}
}

// start begins what runs beside the window.
func (q *quick) start(mine *instance) {
	q.work.Go(func() { q.follow(q.life) })
	q.work.Go(func() { mine.serve(q.life, q.asked, q.log) })
	q.work.Go(func() {
		<-q.life.Done()
		mine.ln.Close()
	})
}

// close ends all that start began.
func (q *quick) close() {
	q.cancel()
	q.over.Stop()
	q.work.Wait()
}

func (q *quick) startup(ctx context.Context) {
	q.begun.Do(func() {
		q.wctx = ctx
		fillKept()
		q.events.start(q.life)
		mendPage(q.log, func() { os.Exit(1) }) // it owns nothing that could be left half done
		close(q.ready)
	})
}

func (q *quick) emit(name string, data ...any) {
	select {
	case <-q.ready:
	default:
		return // no page listens yet
	}
	if q.life.Err() == nil {
		runtime.EventsEmit(q.wctx, name, data...)
	}
}

// startPatience is how long an Oxios that was started for the quick prompt may
// take until its socket answers.
const startPatience = 20 * time.Second

// follow connects to the kernel, starting Oxios in the tray where none runs,
// and returns when the kernel or this process has ended.
func (q *quick) follow(ctx context.Context) {
	c, err := q.dial(ctx)
	if ctx.Err() != nil {
		if err == nil {
			_ = c.Close()
		}
		return
	}
	if err != nil {
		q.log.ErrorContext(ctx, "There is no kernel", "error", err)
		q.kernel.fail(err)
	} else {
		q.kernel.set(c.Handle())
		// A page that asked just before was told that there is no kernel yet.
		q.events.notice(map[string]any{"seq": 0, "kind": "gap", "data": map[string]int{"missed": 1}})
		select {
		case <-ctx.Done():
			_ = c.Close()
			return
		case <-c.Done():
		}
		q.log.InfoContext(ctx, "The kernel has ended")
		_ = c.Close()
		q.kernel.set(nil)
		q.kernel.fail(sys.Errorf(sys.CodeUnavailable, "Oxios has ended. What it had confirmed is kept.").WithHint("Open the quick prompt again: it starts Oxios."))
	}
	q.events.notice(map[string]any{"seq": 0, "kind": "lost"})
	q.mu.Lock()
	q.lost = true
	shown := q.shown
	q.mu.Unlock()
	if !shown {
		q.quit()
	}
}

func (q *quick) dial(ctx context.Context) (*remote.Client, error) {
	c, err := remote.Dial(ctx, q.home)
	if err == nil {
		return c, nil
	}
	q.log.InfoContext(ctx, "Starting Oxios in the tray", "why", err)
	if err := spawn(kernel.HiddenFlag); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for ctx.Err() == nil {
		if c, err = remote.DialPatiently(ctx, q.home); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func (q *quick) asked(h handover) {
	if h.End {
		go q.quit()
		return
	}
	q.show()
}

// show brings the prompt to the front. One whose kernel is gone starts anew.
func (q *quick) show() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lost {
		q.again.Store(true)
		go q.quit()
		return
	}
	q.shown = true
	q.over.Stop()
	q.present()
}

// present shows the window if it is wanted and drawn. q.mu is held.
func (q *quick) present() {
	if !q.shown || !q.page {
		return
	}
	q.emit("oxios:quick", true)
	showPrompt(q.wctx)
	q.log.Info("The quick prompt is shown")
}

// hide takes the prompt off the screen; it ends later, or at once when there
// is nothing left to ask.
func (q *quick) hide() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shown = false
	q.over.Reset(q.idle)
	runtime.WindowHide(q.wctx)
	q.emit("oxios:quick", false)
	if q.lost {
		go q.quit()
	}
}

func (q *quick) beforeClose(context.Context) bool {
	if q.life.Err() != nil {
		return false
	}
	q.hide()
	return true
}

// quit ends the process.
func (q *quick) quit() {
	q.done.Do(func() {
		select {
		case <-q.ready:
		case <-q.life.Done():
			return
		}
		q.cancel()
		endLoop(q.wctx)
		time.AfterFunc(quitPatience, func() {
			select {
			case <-q.ended:
			default:
				os.Exit(0)
			}
		})
	})
}

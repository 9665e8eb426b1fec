package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"oxios/app/gateway"
	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) serveCommand() *cobra.Command {
	var addr string
	var wait bool
	cmd := &cobra.Command{
		Use: "serve", Short: c.t("Run Oxios without a window, with its page in a browser", "창 없이 실행하고 브라우저에서 씁니다"), Args: c.args(0, 0),
		Long: c.t("Runs Oxios without a window until Ctrl-C, and serves its page on this machine only.\nThe address that it prints lets one browser in, once, within ten minutes; `oxios address` prints another.",
			"창 없이 Oxios를 Ctrl-C까지 실행하고, 이 컴퓨터에서만 열리는 페이지를 제공합니다.\n출력되는 주소는 10분 안에 브라우저 하나를 한 번 들여보냅니다. 다른 주소는 `oxios address`로 받습니다."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			port, err := c.loopbackPort(addr)
			if err != nil {
				return usage(err)
			}
			return c.serve(cmd.Context(), port, wait)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", c.t("the `address`, on this machine; port 0 is a free one", "이 컴퓨터의 `주소`; 포트 0은 빈 포트"))
	cmd.Flags().BoolVar(&wait, "wait", false, c.t("while another Oxios runs, wait for its end", "다른 Oxios가 실행 중이면 끝날 때까지 기다립니다"))
	return c.withJSON(cmd)
}

// loopbackPort is the port of addr, whose host must be this machine's loopback.
func (c *console) loopbackPort(addr string) (int, error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q is not an address.", "%q은(는) 주소가 아닙니다."), addr), c.t("It looks like 127.0.0.1:8080.", "127.0.0.1:8080처럼 적어 주세요."))
	}
	if host != "127.0.0.1" && host != "localhost" {
		return 0, c.fail(sys.CodeForbidden, fmt.Sprintf(c.t("The page is served on this machine only, and %q is another address.", "페이지는 이 컴퓨터에서만 제공됩니다. %q은(는) 다른 주소입니다."), host),
			c.t("Use 127.0.0.1, and a tunnel like ssh -L to reach it from elsewhere.", "127.0.0.1을 쓰고, 다른 곳에서는 ssh -L 같은 터널을 쓰세요."))
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q is not a port.", "%q은(는) 포트가 아닙니다."), text), c.t("A port is a number from 0 to 65535.", "포트는 0에서 65535까지의 숫자입니다."))
	}
	return int(port), nil
}

// serve owns the home until ctx ends: it runs the kernel and answers on its
// socket and on the page's port. With wait it lets another owner end first.
func (c *console) serve(ctx context.Context, port int, wait bool) (err error) {
	client, k, log, err := c.reach(ctx, "serve")
	for wait && (client != nil || sys.CodeOf(err) == sys.CodeBusy) {
		if err := c.awaitTurn(ctx, client); err != nil {
			return nil // told to end before it began
		}
		client, k, log, err = c.reach(ctx, "serve")
	}
	if err != nil {
		return err
	}
	if client != nil {
		defer client.Close() //nolint:errcheck // nothing was changed over it
		return c.alreadyRuns(ctx, client.Handle())
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	socket, err := remote.Listen(k.Home())
	if err != nil {
		return err
	}
	page, err := gateway.Listen(port)
	if err != nil {
		return errors.Join(err, socket.Close())
	}
	programs := c.programs(k, log)
	g := gateway.New(gateway.Config{
		Handle:   func(via string) *remote.Handle { return remote.Local(k.As(sys.Person(via))) },
		Programs: programs,
		Frontend: c.deps.Frontend, Log: log, Scratch: filepath.Join(k.Home(), "run"),
	})
	k.OfferPage(func() string { return g.URL(page.Addr()) })
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return remote.Host(ctx, k, socket, log) })
	work.Go(func() error { return programs.Run(ctx) })
	work.Go(func() error { return g.Run(ctx, page) })
	work.Go(func() error { return k.Run(ctx) })
	work.Go(func() error { return c.notices(ctx, k, log) })
	// Both doors are open: who reads the line may knock at once. The line is
	// the same in every language, as programs wait for it.
	if c.json {
		err = c.writeJSON(map[string]string{"url": g.URL(page.Addr())})
	} else {
		c.printf("Oxios is ready: %s", g.URL(page.Addr()))
	}
	if err != nil { // nobody reads what says where it is
		work.Go(func() error { return err })
	}
	return work.Wait()
}

// awaitTurn waits until the owner behind client has ended, or for a moment when
// the owner does not answer. It fails when ctx ends first.
func (c *console) awaitTurn(ctx context.Context, client *remote.Client) error {
	if client == nil {
		select {
		case <-time.After(time.Second):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer client.Close() //nolint:errcheck // nothing was changed over it
	c.note("%s", c.t("Oxios already runs; waiting for its end.", "Oxios가 이미 실행 중이라 끝나기를 기다립니다."))
	select {
	case <-client.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// alreadyRuns says who has the home.
func (c *console) alreadyRuns(ctx context.Context, h *remote.Handle) error {
	s, err := h.Infra.Status(ctx)
	if err != nil {
		return err
	}
	hint := c.t("Use that one, or end it first.", "그것을 쓰거나 먼저 끝내 주세요.")
	switch s.Owner {
	case kernel.OwnerRun:
		hint = c.t("It ends with its run; try again then.", "그 실행이 끝나면 다시 시도해 주세요.")
	case kernel.OwnerServe:
		hint = c.t("`oxios address` prints an address for another browser.", "다른 브라우저에서 쓰려면 `oxios address`로 주소를 받으세요.")
	}
	return c.fail(sys.CodeBusy, fmt.Sprintf(c.t("Oxios already runs for %s (%s, process %d).", "%s에서 Oxios가 이미 실행 중입니다 (%s, 프로세스 %d)."), s.Home, s.Owner, s.PID), hint)
}

package kernel

import (
	"context"

	"oxios/kernel/sys"
)

// OfferPage lets [InfraAPI.PageAddress] answer: mint makes an address that lets
// one browser in, once. The face that serves the page calls it.
func (k *Kernel) OfferPage(mint func() string) { k.page.Store(&mint) }

// PageAddress returns a fresh address of the page that `oxios serve` shows in a
// browser of this machine. It lets one browser in, once, within ten minutes.
// Where the window owns the home there is no page: [sys.CodeUnavailable].
func (a *InfraAPI) PageAddress(ctx context.Context) (string, error) {
	return guard(ctx, a.caller, action{call: "infra.pageAddress", resource: "page"}, func(context.Context) (string, error) {
		mint := a.k.page.Load()
		if mint == nil {
			return "", sys.Errorf(sys.CodeUnavailable, "The Oxios that runs shows no page in a browser.").
				WithHint("The page belongs to `oxios serve` and to the service; end the window to use it.")
		}
		return (*mint)(), nil
	})
}

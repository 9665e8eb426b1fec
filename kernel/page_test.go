package kernel_test

import (
	"testing"

	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestPageAddressComesFromWhoeverServesThePage(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Uncontained())
	if _, err := k.Person().Infra.PageAddress(t.Context()); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v, want unavailable without a page", err)
	}
	k.OfferPage(func() string { return "http://127.0.0.1:1/#code=x" })
	if got, err := k.Person().Infra.PageAddress(t.Context()); err != nil || got != "http://127.0.0.1:1/#code=x" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := k.Agent("autonomous").Infra.PageAddress(t.Context()); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an agent: got %v, want forbidden", err)
	}
}

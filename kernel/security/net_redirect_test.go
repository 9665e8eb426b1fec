package security

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// hops is a site that sends on so often before it answers.
type hops int

func (h hops) RoundTrip(r *http.Request) (*http.Response, error) {
	at, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		return nil, err
	}
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}
	if at < int(h) {
		res.StatusCode = http.StatusFound
		res.Header.Set("Location", fmt.Sprintf("/%d", at+1))
	}
	return res, nil
}

func TestFiveRedirectsAreFollowedAndNoSixth(t *testing.T) {
	t.Parallel()
	for n, ok := range map[hops]bool{0: true, 5: true, 6: false, 7: false, 60: false} {
		res, err := (&NetGuard{}).Get(t.Context(), n, "https://site.example/0")
		var refused *NetRefusal
		if ok && err != nil || !ok && !errors.As(err, &refused) {
			t.Errorf("%d redirects: got %v, want followed %v", n, err, ok)
		}
		if res != nil {
			res.Body.Close() //nolint:errcheck // there is nothing in it
		}
	}
}

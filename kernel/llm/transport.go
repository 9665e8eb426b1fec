package llm

import (
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"oxios/kernel/sys"
)

var errRedirect = errors.New("the server redirects to another address")

// newHTTPClient honours the proxy of the configuration or the environment and
// an own certificate authority. It follows no redirect to another host, so
// that a key never leaves the host that it is for.
func newHTTPClient(ep Endpoint) (*http.Client, error) {
	proxy, err := proxyFunc(ep.ProxyURL)
	if err != nil {
		return nil, err
	}
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if ep.CAFile != "" {
		if tlsConfig.RootCAs, err = certPool(ep.CAFile); err != nil {
			return nil, err
		}
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  proxy,
			DialContext:            (&net.Dialer{Timeout: ep.Timeout.Connect, KeepAlive: 30 * time.Second}).DialContext,
			TLSClientConfig:        tlsConfig,
			TLSHandshakeTimeout:    ep.Timeout.Connect,
			MaxIdleConnsPerHost:    16,
			IdleConnTimeout:        90 * time.Second,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: 1 << 20,
			// A compressed answer would be held back until a block is full, and
			// could unpack to any size.
			DisableCompression: true,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			from := via[0].URL
			if req.URL.Host != from.Host || req.URL.Scheme != from.Scheme || len(via) > 3 {
				return errRedirect
			}
			return nil
		},
	}, nil
}

func proxyFunc(proxyURL string) (func(*http.Request) (*url.URL, error), error) {
	config := httpproxy.FromEnvironment()
	if proxyURL != "" {
		u, err := url.Parse(proxyURL)
		if err != nil || u.Host == "" {
			return nil, sys.Errorf(sys.CodeInvalid, "The proxy address %q is not a web address.", safeURL(proxyURL)).
				WithHint("Write it like http://proxy.example:3128 or socks5://127.0.0.1:1080.")
		}
		config.HTTPProxy, config.HTTPSProxy = proxyURL, proxyURL
	}
	find := config.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return find(r.URL) }, nil
}

func certPool(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, sys.Errorf(sys.CodeInvalid, "The certificate file of the provider cannot be read: %w", err).
			WithHint("Correct the path, or remove it from the provider's settings.")
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, sys.Errorf(sys.CodeInvalid, "The file %q holds no PEM certificate.", file).
			WithHint("Export the certificate authority as PEM (it begins with -----BEGIN CERTIFICATE-----).")
	}
	return pool, nil
}

type heldKey struct{}

// held keeps the response of one request, so that its headers and body can be
// read below go-openai.
type held struct{ resp *http.Response }

func withHeld(ctx context.Context) (context.Context, *held) {
	h := &held{}
	return context.WithValue(ctx, heldKey{}, h), h
}

// doer is what go-openai sends its requests through. go-openai builds,
// validates and reports them; the stream itself is read here, because
// go-openai's reader knows no limit, loses an error that follows a comment
// line, and gives io.EOF both for the end and for a cut.
type doer struct {
	client *http.Client
	ep     Endpoint
}

// Do sends a request with the endpoint's own headers, and with what [withLists]
// kept back.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	req.Header.Set("User-Agent", "Oxios")
	for k, v := range d.ep.Headers {
		req.Header.Set(k, v)
	}
	if err := putLists(req); err != nil {
		return nil, err
	}
	resp, err := d.client.Do(req)
	letGo(req.Context())
	if err == nil {
		if err = unpack(resp); err != nil {
			resp.Body.Close()
			return nil, err
		}
	}
	if h, ok := req.Context().Value(heldKey{}).(*held); ok && err == nil {
		h.resp = resp
		if resp.StatusCode >= http.StatusBadRequest || resp.StatusCode < http.StatusOK {
			resp.Body = limitBody(resp.Body, maxErrorBody)
		}
	}
	return resp, err
}

// unpack lets the body of resp be read where a proxy compressed it unasked. What
// it unpacks to is bounded by whoever reads it.
func unpack(resp *http.Response) error {
	kind := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	switch kind {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
		resp.Body = &unpacked{Closer: resp.Body, packed: resp.Body, kind: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
	case "deflate":
		resp.Body = &unpacked{Closer: resp.Body, packed: resp.Body, kind: func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }}
	default:
		return fmt.Errorf("the answer is compressed as %q, which was not asked for", kind)
	}
	resp.Header.Del("Content-Encoding")
	resp.ContentLength = -1
	return nil
}

// unpacked reads what a body unpacks to. The first bytes are waited for when they
// are read.
type unpacked struct {
	io.Closer
	packed io.Reader
	kind   func(io.Reader) (io.Reader, error)
	r      io.Reader
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.r == nil {
		r, err := u.kind(u.packed)
		if err != nil {
			return 0, err
		}
		u.r = r
	}
	return u.r.Read(p)
}

package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// maxBundledLog is how much of the end of each log goes into a bundle.
const maxBundledLog = 256 << 10

// bundle writes what helps to understand a problem to a .tar.gz: the report,
// the configuration and the ends of the logs, each with its secrets masked.
// Conversations, keys and the database stay out.
func (c *console) bundle(r kernel.DoctorReport, file string) error {
	if file == "" {
		file = "oxios-doctor-" + time.Now().Format("20060102-150405") + ".tar.gz"
	}
	report, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	versions, err := json.MarshalIndent(map[string]string{"oxios": c.deps.Version, "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH}, "", "  ")
	if err != nil {
		return err
	}
	parts := []bundled{{"doctor.json", report}, {"versions.json", versions}}
	if raw, err := os.ReadFile(filepath.Join(c.home, "config.toml")); err == nil {
		parts = append(parts, bundled{"config.toml", raw})
	}
	logs, err := filepath.Glob(filepath.Join(globSafe(c.home), "logs", "*.log*"))
	if err != nil {
		return err
	}
	for _, path := range logs {
		if raw, err := endOf(path, maxBundledLog); err == nil { // a log that cannot be read is left out
			parts = append(parts, bundled{"logs/" + filepath.Base(path), raw})
		}
	}
	var archive bytes.Buffer
	if err := pack(&archive, parts); err != nil {
		return err
	}
	if err := os.WriteFile(file, archive.Bytes(), 0o600); err != nil {
		return c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("%s cannot be written: %v.", "%s에 쓸 수 없습니다: %v."), file, err), "")
	}
	c.note(c.t("Written to %s. Secrets are masked; look through it before you pass it on.", "%s에 썼습니다. 비밀은 가렸지만 전달하기 전에 살펴보세요."), file)
	return nil
}

type bundled struct {
	name string
	data []byte
}

func pack(w io.Writer, parts []bundled) error {
	gz := gzip.NewWriter(w)
	t := tar.NewWriter(gz)
	for _, p := range parts {
		data := []byte(masked(string(p.data)))
		if err := t.WriteHeader(&tar.Header{Name: "oxios-doctor/" + p.name, Mode: 0o600, Size: int64(len(data)), ModTime: time.Now()}); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), gz.Close())
}

func endOf(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(max(0, info.Size()-most), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// What a bundle masks besides the kernel's redactor: the code that lets a browser
// in, the headers of a provider, and, because it goes to strangers, whatever
// stands behind the name of a secret.
var (
	namedSecret   = sys.Pattern(`(?i)("?[\w-]*(?:api[-_]?key|token|secret|passwo?rd|passphrase|authorization|credential|cookie)[\w-]*"?\s*[=:]\s*)("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s,}]+)`)
	browserCode   = sys.Pattern(`#code=[A-Za-z0-9_-]+`)
	inlineHeaders = sys.Pattern(`(?im)^(\s*headers\s*=\s*)\{[^}\n]*\}`)
)

// masked is s without what looks like a secret, and with the person's home
// folder, which holds their name, as ~.
func masked(s string) string {
	s = browserCode().ReplaceAllString(s, "#code=[masked]")
	s = maskHeaderTables(inlineHeaders().ReplaceAllString(s, `$1"[masked]"`))
	s = namedSecret().ReplaceAllString(kernel.Redact(s), `$1"[masked]"`)
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		s = strings.ReplaceAll(s, home, "~")
	}
	return s
}

// maskHeaderTables masks the values of [providers.headers] tables in TOML.
func maskHeaderTables(s string) string {
	lines := strings.Split(s, "\n")
	inside := false
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") {
			inside = strings.HasSuffix(strings.TrimRight(trimmed, "]"), "providers.headers")
			continue
		}
		if key, _, ok := strings.Cut(line, "="); inside && ok {
			lines[i] = key + `= "[masked]"`
		}
	}
	return strings.Join(lines, "\n")
}

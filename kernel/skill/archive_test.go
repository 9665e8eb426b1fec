package skill

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

// item is one entry of a package that a test makes.
type item struct {
	name, content string
	mode          fs.FileMode
	link          string
}

var main = item{name: "tool/SKILL.md", content: "---\nname: tool\ndescription: d\n---\nDo it.\n"}

func zipOf(t *testing.T, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, it := range items {
		h := &zip.FileHeader{Name: it.name, Method: zip.Deflate}
		mode := it.mode
		if mode == 0 {
			mode = 0o644
		}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(f, it.content+it.link)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t *testing.T, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, it := range items {
		h := &tar.Header{Name: it.name, Mode: int64(max(it.mode.Perm(), 0o600)), Size: int64(len(it.content)), Typeflag: tar.TypeReg, Linkname: it.link}
		switch {
		case it.mode&fs.ModeDir != 0:
			h.Typeflag = tar.TypeDir
		case it.mode&fs.ModeSymlink != 0:
			h.Typeflag = tar.TypeSymlink
		case it.mode&fs.ModeIrregular != 0:
			h.Typeflag = tar.TypeLink
		case it.mode&fs.ModeNamedPipe != 0:
			h.Typeflag = tar.TypeFifo
		case it.mode&fs.ModeCharDevice != 0:
			h.Typeflag, h.Devmajor, h.Devminor = tar.TypeChar, 1, 5
		case it.mode&fs.ModeDevice != 0:
			h.Typeflag = tar.TypeBlock
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, it.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(raw []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(raw)
	_ = w.Close()
	return b.Bytes()
}

// yard is a folder with the staging folder in it, and nothing else but a file that
// must stay as it is.
type yard struct{ dir, staging string }

func newYard(t *testing.T) yard {
	t.Helper()
	y := yard{dir: t.TempDir()}
	y.staging = filepath.Join(y.dir, "staging")
	if err := os.Mkdir(y.staging, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(y.dir, "precious"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	return y
}

// untouched checks that nothing is in the yard but what was there.
func (y yard) untouched(t *testing.T, name string) {
	t.Helper()
	var left []string
	_ = filepath.WalkDir(y.dir, func(path string, _ fs.DirEntry, _ error) error {
		left = append(left, path)
		return nil
	})
	if want := []string{y.dir, filepath.Join(y.dir, "precious"), y.staging}; !slices.Equal(left, want) {
		t.Errorf("%s: afterwards there is %q, want %q", name, left, want)
	}
	if raw, _ := os.ReadFile(filepath.Join(y.dir, "precious")); string(raw) != "mine" {
		t.Errorf("%s: a file outside has become %q", name, raw)
	}
}

func (y yard) unpack(t *testing.T, raw []byte) (string, error) {
	t.Helper()
	return Unpack(t.Context(), bytes.NewReader(raw), int64(len(raw)), y.staging)
}

func TestArchivesOfAllKindsAreUnpacked(t *testing.T) {
	t.Parallel()
	items := []item{
		{name: "tool/", mode: fs.ModeDir | 0o755},
		main,
		{name: "tool/scripts/run.sh", content: "#!/bin/sh\n", mode: 0o755},
		{name: "tool/참고/자료.md", content: "자료"},
		{name: "tool/empty", content: ""},
	}
	mac := append(slices.Clone(items), item{name: "__MACOSX/tool/._SKILL.md", content: "x"}, item{name: "tool/.DS_Store", content: "x"})
	dotted := []item{{name: "./", mode: fs.ModeDir | 0o755}, {name: "./SKILL.md", content: main.content}, {name: "./scripts/run.sh", content: "x", mode: 0o755}}
	for name, c := range map[string]struct {
		raw  []byte
		root string
	}{
		"zip": {zipOf(t, items...), "tool"}, "zip from macOS": {zipOf(t, mac...), "tool"}, "tar": {tarOf(t, items...), "tool"},
		"tar.gz": {zipped(tarOf(t, items...)), "tool"}, "tar with dots": {tarOf(t, dotted...), "."},
	} {
		y := newYard(t)
		root, err := y.unpack(t, c.raw)
		if err != nil || root != c.root {
			t.Errorf("%s: got %q, %v", name, root, err)
			continue
		}
		at := filepath.Join(y.staging, root)
		if raw, err := os.ReadFile(filepath.Join(at, "SKILL.md")); err != nil || string(raw) != main.content {
			t.Errorf("%s: SKILL.md is %q, %v", name, raw, err)
		}
		if info, err := os.Stat(filepath.Join(at, "scripts", "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
			t.Errorf("%s: the script is %v, %v", name, info, err)
		}
		if info, err := os.Stat(filepath.Join(at, "SKILL.md")); err != nil || runtime.GOOS != "windows" && info.Mode()&0o111 != 0 {
			t.Errorf("%s: SKILL.md is %v, %v", name, info, err)
		}
		if _, err := os.Stat(filepath.Join(y.staging, "__MACOSX")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: what macOS adds was kept", name)
		}
	}
}

func TestFirstSkillAtMostTwoFoldersDeepIsTheRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"SKILL.md", "a/SKILL.md"}, "."},
		{[]string{"b/SKILL.md", "a/x/SKILL.md"}, "b"},
		{[]string{"repo/z/SKILL.md", "repo/b/SKILL.md", "README.md"}, "repo/b"},
		{[]string{"a/skill.md"}, "a"},
		{[]string{"a/b/c/SKILL.md"}, ""},
		{[]string{"README.md"}, ""},
		{nil, ""},
	} {
		var items []item
		for _, n := range c.names {
			items = append(items, item{name: n, content: "x"})
		}
		y := newYard(t)
		got, err := y.unpack(t, zipOf(t, items...))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: got %q, %v, want %q", c.names, got, err, c.want)
		}
		if c.want == "" {
			y.untouched(t, strings.Join(c.names, " "))
		}
	}
}

// Each of these has a good SKILL.md before and a good file behind what is wrong,
// as a zip, a tar and a tar.gz.
func TestHostileEntriesLeaveNothing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("d/", 40)
	for name, c := range map[string]struct {
		bad  []item
		want string
	}{
		"parent":                   {[]item{{name: "../evil", content: "x"}}, "leads out"},
		"parent in the middle":     {[]item{{name: "tool/../../evil", content: "x"}}, "leads out"},
		"parent at the end":        {[]item{{name: "tool/..", content: "x"}}, "leads out"},
		"parent that stays inside": {[]item{{name: "tool/a/../b", content: "x"}}, "leads out"},
		"over the precious":        {[]item{{name: "../precious", content: "x"}}, "leads out"},
		"absolute":                 {[]item{{name: "/tmp/oxios-evil", content: "x"}}, "root of the disk"},
		"two slashes":              {[]item{{name: "//server/share", content: "x"}}, "root of the disk"},
		"drive":                    {[]item{{name: "C:/evil", content: "x"}}, "colon"},
		"drive without a slash":    {[]item{{name: "C:evil", content: "x"}}, "colon"},
		"stream":                   {[]item{{name: "tool/SKILL.md:hidden", content: "x"}}, "colon"},
		"backslash":                {[]item{{name: `tool\..\..\evil`, content: "x"}}, "backslash"},
		"backslash drive":          {[]item{{name: `C:\evil`, content: "x"}}, "backslash"},
		"device name":              {[]item{{name: "tool/NUL.txt", content: "x"}}, "every system"},
		"dot at the end":           {[]item{{name: "tool/a.", content: "x"}}, "every system"},
		"space at the end":         {[]item{{name: "tool/a ", content: "x"}}, "every system"},
		"question mark":            {[]item{{name: "tool/a?", content: "x"}}, "every system"},
		"no simple form":           {[]item{{name: "tool/./a", content: "x"}}, "simplest form"},
		"nothing between slashes":  {[]item{{name: "tool//a", content: "x"}}, "simplest form"},
		"long name":                {[]item{{name: "tool/" + strings.Repeat("n", 256), content: "x"}}, "every system"},
		"long path":                {[]item{{name: strings.Repeat("123456789/", 110) + "a", content: "x"}}, "longer than"},
		"many folders":             {[]item{{name: long + "a", content: "x"}}, "folders"},
		"symlink out":              {[]item{{name: "tool/link", link: "../../precious", mode: fs.ModeSymlink | 0o777}}, "is a link"},
		"symlink inside":           {[]item{{name: "tool/link", link: "SKILL.md", mode: fs.ModeSymlink | 0o777}}, "is a link"},
		"symlink, then through it": {[]item{{name: "tool/link", link: "/tmp", mode: fs.ModeSymlink | 0o777}, {name: "tool/link/evil", content: "x"}}, "is a link"},
		"line feed":                {[]item{{name: "tool/a\nb", content: "x"}}, "cannot be seen"},
		"escape":                   {[]item{{name: "tool/\x1b[31mred", content: "x"}}, "cannot be seen"},
		"turned around":            {[]item{{name: "tool/cod\u202Egpj.exe", content: "x"}}, "cannot be seen"},
		"isolate":                  {[]item{{name: "tool/a\u2066b", content: "x"}}, "cannot be seen"},
		"zero width":               {[]item{{name: "tool/SKILL\u200B.md", content: "x"}}, "cannot be seen"},
		"filler":                   {[]item{{name: "tool/a\u3164", content: "x"}}, "cannot be seen"},
		"case":                     {[]item{{name: "tool/skill.MD", content: "x"}}, "same on many disks"},
		"case of a folder":         {[]item{{name: "TOOL/other", content: "x"}}, "same on many disks"},
		"form of Unicode":          {[]item{{name: "tool/caf\u00e9", content: "x"}, {name: "tool/cafe\u0301", content: "y"}}, "same on many disks"},
		"Kelvin":                   {[]item{{name: "tool/k", content: "x"}, {name: "tool/\u212A", content: "y"}}, "same on many disks"},
		"twice":                    {[]item{{name: "tool/SKILL.md", content: "x"}}, "there twice"},
		"file, then folder":        {[]item{{name: "tool/a", content: "x"}, {name: "tool/a/b", content: "x"}}, "there twice"},
		"folder, then file":        {[]item{{name: "tool/a/b", content: "x"}, {name: "tool/a", content: "x"}}, "there twice"},
	} {
		items := append(append([]item{main}, c.bad...), item{name: "tool/last", content: "x"})
		raw := tarOf(t, items...)
		for kind, raw := range map[string][]byte{"zip": zipOf(t, items...), "tar": raw, "tar.gz": zipped(raw)} {
			y := newYard(t)
			_, err := y.unpack(t, raw)
			e := sys.AsError(err)
			if e == nil || !strings.Contains(e.Message, c.want) || e.Hint == "" || e.MessageKO == "" || strings.ContainsFunc(e.Message, unseen) {
				t.Errorf("%s as %s: got %+v, want %q", name, kind, e, c.want)
			}
			y.untouched(t, name+" as "+kind)
			if _, err := os.Lstat("/tmp/oxios-evil"); err == nil {
				t.Errorf("%s as %s wrote outside", name, kind)
			}
		}
	}
	for name, bad := range map[string]item{
		"hard link": {name: "tool/link", link: "../precious", mode: fs.ModeIrregular}, "pipe": {name: "tool/pipe", mode: fs.ModeNamedPipe},
		"character device": {name: "tool/zero", mode: fs.ModeCharDevice}, "disk": {name: "tool/sda", mode: fs.ModeDevice},
	} {
		y := newYard(t)
		if _, err := y.unpack(t, tarOf(t, main, bad)); sys.CodeOf(err) != sys.CodeInvalid {
			t.Errorf("%s: got %v", name, err)
		}
		y.untouched(t, name)
	}
	y := newYard(t)
	if _, err := y.unpack(t, zipOf(t, main, item{name: "tool/caf\xe9", content: "x"})); !strings.Contains(fmt.Sprint(err), "not UTF-8") {
		t.Errorf("another encoding: got %v", err)
	}
	y.untouched(t, "another encoding")
}

// part is data that comes so many times in a row.
type part struct {
	data  []byte
	times int
}

// deflated compresses each part once and repeats the result, so that a test has
// gigabytes in no time.
func deflated(parts ...part) []byte {
	var out bytes.Buffer
	for _, p := range parts {
		var b bytes.Buffer
		w, _ := flate.NewWriter(&b, 9)
		_, _ = w.Write(p.data)
		_ = w.Flush()
		out.Write(bytes.Repeat(b.Bytes(), p.times))
	}
	w, _ := flate.NewWriter(&out, 9)
	_ = w.Close()
	return out.Bytes()
}

// bigZip is a zip with files of zeros, of that many MB; each says that it has says
// bytes.
func bigZip(t *testing.T, says uint64, sizes ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("SKILL.md")
	if err == nil {
		_, err = io.WriteString(f, main.content)
	}
	for i, size := range sizes {
		raw := deflated(part{make([]byte, 1<<20), size})
		if err == nil {
			f, err = w.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("zeros%d", i), Method: zip.Deflate, CompressedSize64: uint64(len(raw)), UncompressedSize64: says})
		}
		if err == nil {
			_, err = f.Write(raw)
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// header is an entry of a tar without its content.
func header(h tar.Header) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&h)
	return append(b.Bytes(), make([]byte, (512-b.Len()%512)%512)...)
}

func bigGzip(parts ...part) []byte {
	return append([]byte{0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255}, deflated(parts...)...)
}

func TestBombsAreRefusedWithoutUnpackingThem(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 1<<20) // a seventeenth of it can be made no smaller
	state := uint64(1)
	for i := 0; i < 60<<10; i += 8 {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		binary.LittleEndian.PutUint64(noise[i:], state)
	}
	var large []part
	for i := range 7 {
		large = append(large, part{header(tar.Header{Name: fmt.Sprint("noise", i), Size: 40 << 20, Mode: 0o644}), 1}, part{noise, 40})
	}
	ten := header(tar.Header{Name: "zeros", Size: 10 << 30, Mode: 0o644, Format: tar.FormatGNU})
	global := header(tar.Header{Name: "g", Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": strings.Repeat("x", 900<<10)}})
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"10 GB of zeros in a zip":      {bigZip(t, 10<<30, 10<<10), "64 MB"},
		"10 GB that say 10 bytes":      {bigZip(t, 10, 10<<10), "damaged"},
		"10 GB that say 60 MB":         {bigZip(t, 60<<20, 10<<10), "damaged"},
		"a file of 70 MB":              {bigZip(t, 70<<20, 70), "64 MB"},
		"many files of zeros":          {bigZip(t, 15<<20, 15, 15, 15, 15), "100 times"},
		"10 GB in a tar":               {append(ten, make([]byte, 1024)...), "64 MB"},
		"10 GB in a tar.gz":            {bigGzip(part{ten, 1}, part{make([]byte, 1<<20), 10 << 10}), "64 MB"},
		"10 GB between files":          {bigGzip(part{global, 10 << 10}), "256 MB"},
		"280 MB that are really there": {bigGzip(large...), "256 MB"},
	} {
		y := newYard(t)
		_, err := y.unpack(t, c.raw)
		if e := sys.AsError(err); e == nil || !strings.Contains(e.Message, c.want) || e.MessageKO == "" {
			t.Errorf("%s: got %+v, want %q", name, e, c.want)
		}
		y.untouched(t, name)
	}
	y := newYard(t)
	if _, err := Unpack(t.Context(), bytes.NewReader(nil), 300<<20, y.staging); sys.CodeOf(err) != sys.CodeTooLarge {
		t.Errorf("an archive of 300 MB: got %v", err)
	}
}

func TestTooManyFilesAreRefused(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 100_000 {
		if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("tool/%d", i), Method: zip.Store}); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close()
	var many bytes.Buffer
	tw := tar.NewWriter(&many)
	for range maxStaged + 1 {
		_ = tw.WriteHeader(&tar.Header{Name: "tool/again", Typeflag: tar.TypeDir, Mode: 0o755})
	}
	_ = tw.Close()
	for name, raw := range map[string][]byte{"100,000 in a zip": b.Bytes(), "folders in a tar": many.Bytes(), "folders in a tar.gz": zipped(many.Bytes())} {
		y := newYard(t)
		if _, err := y.unpack(t, raw); sys.CodeOf(err) != sys.CodeTooLarge || !strings.Contains(err.Error(), "files") {
			t.Errorf("%s: got %v", name, err)
		}
		y.untouched(t, name)
	}
}

func TestWhatIsNoArchiveOrDamagedIsTold(t *testing.T) {
	t.Parallel()
	whole := zipOf(t, main, item{name: "tool/noise", content: strings.Repeat("abc", 5000)})
	flipped := slices.Clone(whole)
	flipped[60] ^= 0xFF
	gz := zipped(tarOf(t, main))
	encrypted := slices.Clone(whole)
	at := bytes.Index(encrypted, []byte("PK\x01\x02"))
	encrypted[at+8] |= 1
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"empty":          {nil, "not an archive"},
		"text":           {[]byte("hello"), "not an archive"},
		"rar":            {[]byte("Rar!\x1a\x07\x00"), "not an archive"},
		"cut zip":        {whole[:len(whole)-30], "damaged"},
		"changed zip":    {flipped, "damaged"},
		"cut tar.gz":     {gz[:len(gz)/2], "damaged"},
		"gz of nothing":  {zipped(nil), "no SKILL.md"},
		"gz of text":     {zipped([]byte(strings.Repeat("x", 2000))), "damaged"},
		"encrypted zip":  {encrypted, "encrypted"},
		"only the start": {[]byte("PK\x03\x04"), "damaged"},
	} {
		y := newYard(t)
		_, err := y.unpack(t, c.raw)
		if e := sys.AsError(err); e == nil || !strings.Contains(e.Message, c.want) || e.Hint == "" || e.MessageKO == "" {
			t.Errorf("%s: got %+v, want %q", name, e, c.want)
		}
		y.untouched(t, name)
	}
}

func TestStagingFolderMustBeEmptyAndStaysAsItIs(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	kept := filepath.Join(y.staging, "kept")
	if err := os.WriteFile(kept, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := y.unpack(t, zipOf(t, main)); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
	list, _ := os.ReadDir(y.staging)
	if len(list) != 1 {
		t.Errorf("got %v", list)
	}
}

func TestStoppedUnpackingLeavesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	y := newYard(t)
	raw := zipOf(t, main)
	if _, err := Unpack(ctx, bytes.NewReader(raw), int64(len(raw)), y.staging); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	y.untouched(t, "stopped")
}

func TestCopyObeysTheSameRules(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	write := func(name, content string, mode fs.FileMode) {
		t.Helper()
		at := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("SKILL.md", main.content, 0o600)
	write("scripts/run.sh", "#!/bin/sh\n", 0o700)
	write(".git/config", "x", 0o644)
	y := newYard(t)
	if root, err := Copy(t.Context(), from, y.staging); err != nil || root != "." {
		t.Fatalf("got %q, %v", root, err)
	}
	if info, err := os.Stat(filepath.Join(y.staging, "scripts", "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("got %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(y.staging, ".git")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(".git was copied")
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, make := range map[string]func(at string) error{
		"is a link":              func(at string) error { return os.Symlink("/etc/passwd", at) },
		"link inside":            func(at string) error { return os.Symlink("SKILL.md", at) },
		"is not a regular file":  func(at string) error { return mkfifo(at) },
		"has a colon":            func(at string) error { return os.WriteFile(at+":b", nil, 0o644) },
		"characters that cannot": func(at string) error { return os.WriteFile(at+"\u202E", nil, 0o644) },
		"same on many disks": func(at string) error {
			return errors.Join(os.WriteFile(at, nil, 0o644), os.WriteFile(filepath.Join(filepath.Dir(at), "BAD"), nil, 0o644))
		},
		"64 MB": func(at string) error { return errors.Join(os.WriteFile(at, nil, 0o644), os.Truncate(at, 65<<20)) },
	} {
		at := filepath.Join(from, "bad")
		if err := make(at); err != nil {
			t.Fatal(err)
		}
		y := newYard(t)
		_, err := Copy(t.Context(), from, y.staging)
		if want := strings.Replace(name, "link inside", "is a link", 1); sys.AsError(err) == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
		y.untouched(t, name)
		for _, left := range []string{"bad", "bad:b", "bad\u202E", "BAD"} {
			_ = os.Remove(filepath.Join(from, left))
		}
	}
	if _, err := Copy(t.Context(), filepath.Join(from, "missing"), newYard(t).staging); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	t := &testing.T{} // only fails a seed that cannot be made
	f.Add(zipOf(t, main, item{name: "../x", content: "x"}))
	f.Add(tarOf(t, main))
	f.Add(zipped(tarOf(t, main)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		y := newYard(t)
		if _, err := y.unpack(t, raw); err != nil {
			y.untouched(t, "fuzz")
		}
	})
}

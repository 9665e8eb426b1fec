package cli

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// documents are the texts that show commands, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	for _, path := range append(paths, "../../README.md", "../../CONTRIBUTING.md") {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		docs[strings.TrimPrefix(path, "../../")] = string(raw)
	}
	return docs
}

var (
	codeBlock  = regexp.MustCompile("(?ms)^```\\w*\n(.*?)^```")
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
)

// shown calls each with the arguments of every call of oxios in a document;
// whole says that the call is a line of its own, not named in a sentence.
func shown(text string, each func(args []string, whole bool)) {
	parse := func(code string, whole bool) {
		file, err := syntax.NewParser().Parse(strings.NewReader(code), "")
		if err != nil {
			return // no line of a shell
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 || filepath.Base(call.Args[0].Lit()) != "oxios" {
				return true
			}
			var args []string
			for _, w := range call.Args[1:] {
				args = append(args, word(w))
			}
			each(args, whole)
			return true
		})
	}
	for _, m := range codeBlock.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[1]) {
			parse(line, true)
		}
	}
	for _, m := range inlineCode.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		parse(m[1], false)
	}
}

// word is a word of a shell without its quotes.
func word(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString("quoted")
		}
	}
	return b.String()
}

func TestEveryCommandInTheDocumentsExists(t *testing.T) {
	t.Parallel()
	found := 0
	for path, text := range documents(t) {
		shown(text, func(args []string, whole bool) {
			found++
			c := &console{deps: Deps{Restore: func(context.Context, string, string) (string, error) { return "", nil }}}
			cmd, rest, err := c.root(nil).Find(args)
			if err == nil && cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
				t.Errorf("%s: there is no command oxios %s", path, strings.Join(args, " "))
			}
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil && whole {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: oxios %s: %v", path, strings.Join(args, " "), err)
			}
		})
	}
	if found < 100 {
		t.Errorf("found %d commands only", found)
	}
}

// The three things to try are the first that anybody does, often with the demo.
func TestThreeThingsToTryWorkWithTheDemo(t *testing.T) {
	t.Parallel()
	item := regexp.MustCompile("(?m)^([123])\\. `([^`]+)`")
	docs := documents(t)
	for _, path := range []string{"README.md", "docs/README.ko.md"} {
		m := newMachine(t)
		things := item.FindAllStringSubmatch(docs[path], -1)
		if len(things) != 3 {
			t.Fatalf("%s: got %v, want three things", path, things)
		}
		contains(t, "the first", m.must(0, "run", things[0][2]).err, "Listed")
		m.must(0, "run", things[1][2])
		if _, err := os.Stat(filepath.Join(m.folder, "hello.txt")); err != nil {
			t.Errorf("%s: the second wrote nothing: %v", path, err)
		}
		m.must(exitWaiting, "run", "--no-wait", things[2][2])
	}
}

// docs/data.md names everything in a home.
func TestEveryFileOfAHomeIsInTheDocuments(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.serve()
	m.must(0, "run", writes)
	m.must(0, "run", "--attach", filepath.Join(m.folder, "hello.txt"), "Show me the folder.")
	m.must(0, "config", "set", "theme", "dark")
	data := documents(t)["docs/data.md"]
	err := fs.WalkDir(os.DirFS(m.home), ".", func(name string, d fs.DirEntry, err error) error {
		top, _, inside := strings.Cut(name, "/")
		switch {
		case err != nil || name == ".":
			return err
		case top == "caches" || top == "attachments" || top == "undo" || top == "knowledge":
			name = top // what lies in it has no names of its own
		case strings.HasPrefix(name, "run/vault/"):
			name = "run/vault"
		}
		want := "`" + filepath.Base(name)
		if d.IsDir() || !inside {
			want = "`" + name
		}
		if !strings.Contains(data, want) {
			t.Errorf("%s lies in a home, and docs/data.md does not say what it is", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReferenceHasTheCommandsThatHoldOthersAndDoSomethingThemselves(t *testing.T) {
	t.Parallel()
	reference := documents(t)["docs/cli.md"]
	for _, name := range []string{"oxios inbox", "oxios storage", "oxios vault trash", "oxios memory embedder"} {
		if !strings.Contains(reference, "\n## "+name+"\n") {
			t.Errorf("%s is not in docs/cli.md", name)
		}
	}
	if strings.Contains(reference, "\n## oxios approvals\n") {
		t.Error("a command that only holds others is in docs/cli.md")
	}
}

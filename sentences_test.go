package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

// speakers are the functions whose argument at that place is a sentence for people, found by it in kernel/sys/korean*.go, or in the ko.go of its package.
var speakers = map[string]int{"sys.Errorf": 1, "sys.Say": 0, "sys.Korean": 0, "WithHint": 0, "fault": 3, "fail": 2}

// TestRepositoryHasTheKoreanOfEverySentence reads the sources: each sentence that the kernel or a face says has its Korean, with
// the same verbs, and the table holds no sentence that nobody says.
func TestRepositoryHasTheKoreanOfEverySentence(t *testing.T) {
	said := map[string]string{} // sentence → where
	table := map[string]string{}
	for path, file := range goSources(t) {
		if strings.HasPrefix(path, filepath.Join("kernel", "sys", "korean")) || filepath.Base(path) == "ko.go" {
			ast.Inspect(file, func(n ast.Node) bool {
				if pair, ok := n.(*ast.CompositeLit); ok && pair.Type == nil && len(pair.Elts) == 2 {
					en, _ := text(pair.Elts[0])
					ko, _ := text(pair.Elts[1])
					if table[en] != "" {
						t.Errorf("%s has two Korean sentences", strconv.Quote(en))
					}
					table[en] = ko
				}
				return true
			})
			continue
		}
		for sentence, line := range sentencesOf(file) {
			said[sentence] = fmt.Sprintf("%s:%d", path, line)
		}
	}
	if len(said) < 300 {
		t.Fatalf("found %d sentences only", len(said))
	}
	for en, where := range said {
		switch ko, ok := table[en]; {
		case !ok && sys.Korean(en) == "" && strings.Trim(en, "%sq.: ") != "":
			t.Errorf("%s: no Korean in kernel/sys/korean*.go or ko.go for %q", where, en)
		case ok && !slices.Equal(verbs(en), verbs(ko)):
			t.Errorf("%s: the Korean of %q has other verbs: %q", where, en, ko)
		}
	}
	for en := range table {
		if _, ok := said[en]; !ok && !spoken(en) {
			t.Errorf("kernel/sys/korean*.go: nobody says %q", en)
		}
	}
}

// looked up by a variable: the reasons why an approval ended, and the operations on a path.
func spoken(en string) bool {
	return slices.Contains([]string{
		"nobody answered within %s", "it was approved, but not used within %s", "the person took the approval back", "the run has ended", "it was asked again, because something had changed",
		"open", "look at", "write", "make", "delete", "list", "change", "run", "session", "%s.",
	}, en)
}

func goSources(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, root := range []string{"kernel", "app", "main.go"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files[path], err = parser.ParseFile(sources, path, nil, parser.SkipObjectResolution)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

var sources = token.NewFileSet()

func sentencesOf(file *ast.File) map[string]int {
	out := map[string]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok && len(set.Lhs) == 1 { // hint := "…"
			if x, ok := set.Lhs[0].(*ast.Ident); ok && x.Name == "hint" {
				if s, ok := text(set.Rhs[0]); ok {
					out[s] = sources.Position(set.Pos()).Line
				}
			}
		}
		if field, ok := n.(*ast.KeyValueExpr); ok && file.Name.Name == "tools" { // what a tool is for
			if x, ok := field.Key.(*ast.Ident); ok && x.Name == "about" {
				if s, ok := text(field.Value); ok {
					out[s] = sources.Position(field.Pos()).Line
				}
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := ""
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			name = f.Sel.Name
			if x, ok := f.X.(*ast.Ident); ok && x.Name == "sys" {
				name = "sys." + name
			}
		case *ast.Ident:
			name = f.Name
			if file.Name.Name == "sys" {
				name = "sys." + name
			}
		}
		at, ok := speakers[name]
		if !ok || at >= len(call.Args) {
			return true
		}
		for i := max(at-1, 0); i <= at; i++ { // a fault's hint stands before its sentence
			if s, ok := text(call.Args[i]); ok && (i == at || name == "fault" || name == "fail") {
				out[s] = sources.Position(call.Pos()).Line
			}
		}
		return true
	})
	return out
}

// TestRepositoryPatternsCompile compiles what [sys.Pattern] compiles at its first use only, which may be in front of a person.
func TestRepositoryPatternsCompile(t *testing.T) {
	found := 0
	for path, file := range goSources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "Pattern" {
				return true
			}
			found++
			expr, ok := text(call.Args[0])
			if _, err := regexp.Compile(expr); err != nil || !ok {
				t.Errorf("%s:%d: %q is no pattern that can be checked here: %v", path, sources.Position(call.Pos()).Line, expr, err)
			}
			return true
		})
	}
	if found < 40 {
		t.Errorf("found %d patterns only", found)
	}
}

// text is the value of a literal, also of one in parts.
func text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, ok := text(e.X)
		b, ok2 := text(e.Y)
		return a + b, ok && ok2
	}
	return "", false
}

var verb = regexp.MustCompile(`%(\[\d+\])?[#+.\d]*[a-zA-Z]`)

// verbs are the verbs of a format, sorted: the Korean may take them in another order.
func verbs(format string) []string {
	found := verb.FindAllString(strings.ReplaceAll(format, "%%", ""), -1)
	for i, v := range found {
		found[i] = regexp.MustCompile(`\[\d+\]`).ReplaceAllString(v, "")
	}
	slices.Sort(found)
	return found
}

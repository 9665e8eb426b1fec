package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// docs finds the comments of declarations in the source of the packages that
// it is asked about. Export data holds none.
type docs struct {
	packages map[string]listedPackage
	read     map[string]*packageDocs
}

// packageDocs are the comments of one package by the name of what they stand
// at: "Type", "Type.Method" or "Type.Field".
type packageDocs struct {
	text  map[string]string
	order map[string]int
}

// of returns the comment of a declaration, without markers, or "".
func (d *docs) of(pkg *types.Package, name string) string {
	return d.load(pkg.Path()).text[name]
}

// order returns the place of a declaration among those of its package.
func (d *docs) order(pkg *types.Package, name string) int {
	return d.load(pkg.Path()).order[name]
}

func (d *docs) load(path string) *packageDocs {
	if p, ok := d.read[path]; ok {
		return p
	}
	p := &packageDocs{text: map[string]string{}, order: map[string]int{}}
	if d.read == nil {
		d.read = map[string]*packageDocs{}
	}
	d.read[path] = p
	fset := token.NewFileSet()
	for _, name := range d.packages[path].GoFiles {
		// The compiler has accepted these files; what is missing here costs a comment only.
		file, _ := parser.ParseFile(fset, filepath.Join(d.packages[path].Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if file == nil {
			continue
		}
		for _, decl := range file.Decls {
			p.add(decl)
		}
	}
	return p
}

func (p *packageDocs) add(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv != nil && len(decl.Recv.List) == 1 {
			p.put(typeName(decl.Recv.List[0].Type)+"."+decl.Name.Name, decl.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			spec, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			doc := spec.Doc
			if doc == nil && len(decl.Specs) == 1 {
				doc = decl.Doc
			}
			p.put(spec.Name.Name, doc, spec.Comment)
			if body, ok := spec.Type.(*ast.StructType); ok {
				p.addFields(spec.Name.Name, body)
			}
		}
	}
}

func (p *packageDocs) addFields(typ string, body *ast.StructType) {
	for _, field := range body.Fields.List {
		// A comment behind several names tells about none of them alone.
		for _, name := range field.Names {
			if len(field.Names) == 1 {
				p.put(typ+"."+name.Name, field.Doc, field.Comment)
			}
		}
	}
}

func (p *packageDocs) put(name string, groups ...*ast.CommentGroup) {
	p.order[name] = len(p.order)
	for _, g := range groups {
		if text := strings.TrimSpace(g.Text()); text != "" {
			p.text[name] = text
			return
		}
	}
}

func typeName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

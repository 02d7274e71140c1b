package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A hook is a process of its own before every call of the agent: nothing may
// be compiled when a process starts.
func TestNoRegexpIsCompiledAtProcessStart(t *testing.T) {
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if vars, ok := d.(*ast.GenDecl); ok && vars.Tok == token.VAR {
				reportCompiles(t, files, vars)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reportCompiles fails for a call of package regexp that stands outside of a
// function.
func reportCompiles(t *testing.T, files *token.FileSet, vars ast.Node) {
	ast.Inspect(vars, func(n ast.Node) bool {
		if _, isFunc := n.(*ast.FuncLit); isFunc {
			return false
		}
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "regexp" && strings.Contains(s.Sel.Name, "Compile") {
				t.Errorf("%s: compiled at every start of a process", files.Position(n.Pos()))
			}
		}
		return true
	})
}

package budgets

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed *.yaml
var files embed.FS

const extension = ".yaml"

// Names returns the names of the budgets, ascending, without the ".yaml".
func Names() (names []string) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), extension))
	}
	return names
}

// Read returns the text of a budget and the name of its file. It fails if there
// is none of this name.
func Read(name string) (file string, text []byte, err error) {
	file = name + extension
	if text, err = files.ReadFile(file); err != nil {
		return "", nil, fmt.Errorf("budgets: read budget %q: there are %s", name, strings.Join(Names(), ", "))
	}
	return file, text, nil
}

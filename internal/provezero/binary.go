package provezero

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"strings"
)

// A finding is what a probe of a binary found.
type finding struct {
	examined int      // symbols, or names looked for
	found    []string // what must not be in production
}

// executable is a linked Go program whose symbols can be read.
type executable struct {
	symbols  []elf.Symbol
	literals [][]byte // the regions in which string literals lie
}

// errStripped is returned for a program that cannot be examined.
var errStripped = errors.New("no symbol table: a stripped binary proves nothing")

// openExecutable reads the program at path.
func openExecutable(path string) (*executable, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("provezero: open binary: %w", err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("provezero: read %s: %w", path, errStripped)
	}
	if err != nil {
		return nil, fmt.Errorf("provezero: read symbols of %s: %w", path, err)
	}
	literals, err := literalRegions(f, symbols)
	if err != nil {
		return nil, fmt.Errorf("provezero: read %s: %w", path, err)
	}
	return &executable{symbols, literals}, nil
}

// literalRegions returns the loaded bytes of f that can hold a string literal.
//
// A site called relay.validator must be found in the pool of literals, where
// strings lie end to end without a separator, so that no rule about word
// boundaries works. It must not be found in the name of a function
// example.org/relay.validator or a type *relay.validator. Those names lie apart:
// functions in .gopclntab, debug sections and the symbol table, types from
// runtime.types up to go:string.*, where the literals begin.
func literalRegions(f *elf.File, symbols []elf.Symbol) ([][]byte, error) {
	types, ok1 := address(symbols, "runtime.types")
	literals, ok2 := address(symbols, "go:string.*")
	if !ok1 || !ok2 || types >= literals {
		return nil, fmt.Errorf("want runtime.types before go:string.*, have %#x and %#x: unknown layout", types, literals)
	}
	var regions [][]byte
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Type != elf.SHT_PROGBITS || strings.HasSuffix(s.Name, ".gopclntab") {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		if lo, hi := types-s.Addr, literals-s.Addr; types >= s.Addr && hi <= uint64(len(data)) {
			regions = append(regions, data[:lo])
			data = data[hi:]
		}
		regions = append(regions, data)
	}
	return regions, nil
}

func address(symbols []elf.Symbol, name string) (uint64, bool) {
	for _, s := range symbols {
		if s.Name == name {
			return s.Value, true
		}
	}
	return 0, false
}

// countersSymbols finds the functions and data of the counters package, and
// what the compiler made for its types, such as instances of generic functions.
// Type metadata is allowed: an interface that holds a value with a Set in it
// makes the linker describe the Set.
func (x *executable) countersSymbols(counters string) finding {
	f := finding{examined: len(x.symbols)}
	for _, s := range x.symbols {
		if strings.Contains(s.Name, counters+".") && !strings.HasPrefix(s.Name, "type:") {
			f.found = append(f.found, s.Name)
		}
	}
	return f
}

// siteNames finds the names of sites among the literals.
func (x *executable) siteNames(sites []string) finding {
	f := finding{examined: len(sites)}
	for _, site := range sites {
		for _, region := range x.literals {
			if bytes.Contains(region, []byte(site)) {
				f.found = append(f.found, site)
				break
			}
		}
	}
	return f
}

package provezero

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An instruction is what the assembler emitted, without its address and line.
type instruction struct {
	code   string // bytes in hexadecimal; a relocated part is still zero
	relocs string // what goes there: kind and symbol of each relocation
	text   string // for people
}

// A function is the machine code of one function.
type function []instruction

// An object is what the compiler made of one package.
type object struct {
	functions map[string]function
	initTask  string // size of the list of init functions, "" for none
}

// object reads the archive of a compiled package.
func (g goTool) object(ctx context.Context, archive string) (object, error) {
	out, err := g.exec(ctx, nil, g.objdump, archive)
	if err != nil {
		return object{}, fmt.Errorf("provezero: disassemble: %w", err)
	}
	funcs, err := parseObjdump(out)
	if err != nil {
		return object{}, fmt.Errorf("provezero: disassemble %s: %w", archive, err)
	}
	names, err := g.exec(ctx, nil, g.nm, "-size", archive)
	if err != nil {
		return object{}, fmt.Errorf("provezero: list symbols: %w", err)
	}
	return object{dropIdleInit(funcs), initTask(string(names))}, nil
}

var initTaskLine = regexp.MustCompile(`(?m)^\s*[0-9a-f]+\s+(\d+)\s+D\s+.*\.\.inittask$`)

// initTask returns the size of the task that runs a package's init functions.
func initTask(nm string) string {
	if m := initTaskLine.FindStringSubmatch(nm); m != nil {
		return m[1]
	}
	return ""
}

// dropIdleInit leaves out an init that only returns. The compiler makes one
// where all it had to initialize has no size, and then names it in no init
// task, so that it is not linked; the tasks are compared as well.
func dropIdleInit(funcs map[string]function) map[string]function {
	maps.DeleteFunc(funcs, func(name string, f function) bool {
		return strings.HasSuffix(name, ".init") && len(f) == 1 && f[0].text == "RET"
	})
	return funcs
}

var (
	textLine = regexp.MustCompile(`^TEXT (.*)\(SB\)(?: .*)?$`)
	codeLine = regexp.MustCompile(`^  \S+:-?\d+\t+0x[0-9a-f]+\t+([0-9a-f]+)\t+(.*)$`)
	relocAt  = regexp.MustCompile(`\t\[-?\d+:-?\d+\]R_`)
)

// parseObjdump reads what go tool objdump prints for an archive. A relocation
// names a string by its content, which may hold line ends.
func parseObjdump(out []byte) (map[string]function, error) {
	funcs := make(map[string]function)
	var name string
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line := lines.Text()
		if m := textLine.FindStringSubmatch(line); m != nil {
			name = m[1]
			if _, twice := funcs[name]; twice {
				return nil, fmt.Errorf("function %s occurs twice", name)
			}
			funcs[name] = nil
			continue
		}
		m := codeLine.FindStringSubmatch(line)
		body := funcs[name]
		switch {
		case m != nil && name != "":
			funcs[name] = append(body, parseInstruction(m[1], m[2]))
		case len(body) > 0 && body[len(body)-1].relocs != "":
			body[len(body)-1].relocs += "\n" + line
		case line != "":
			return nil, fmt.Errorf("cannot read line %q", line)
		}
	}
	for name, body := range funcs {
		trimRelocs(body)
		funcs[name] = trimPadding(body)
	}
	return funcs, lines.Err()
}

func parseInstruction(code, rest string) instruction {
	in := instruction{code: code, text: rest}
	if at := relocAt.FindStringIndex(rest); at != nil {
		in.text, in.relocs = rest[:at[0]], rest[at[0]:]
	}
	in.text = strings.TrimSpace(in.text)
	return in
}

// trimRelocs drops the padding and empty lines that follow relocations.
func trimRelocs(body function) {
	for i := range body {
		body[i].relocs = strings.TrimSpace(body[i].relocs)
	}
}

// trimPadding drops the zeros with which a function is filled up.
func trimPadding(body function) function {
	for len(body) > 0 {
		last := body[len(body)-1]
		if last.text != "?" || strings.Trim(last.code, "0") != "" || last.relocs != "" {
			break
		}
		body = body[:len(body)-1]
	}
	return body
}

func (in instruction) same(other instruction) bool {
	return in.code == other.code && in.relocs == other.relocs
}

func (in instruction) String() string {
	return strings.TrimSpace(in.text + " " + in.relocs)
}

// A comparison is of the functions of two compilations of one package.
type comparison struct {
	pkg          string // import path
	functions    int
	instructions int
	differences  []string // one line for each function that differs
}

// compare compares real machine code with the reference.
func compare(real, reference object) comparison {
	var c comparison
	if real.initTask != reference.initTask {
		d := fmt.Sprintf("init task: %s bytes, without the calls %s", real.initTask, reference.initTask)
		c.differences = append(c.differences, d)
	}
	names := maps.Clone(real.functions)
	maps.Copy(names, reference.functions)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		got, inReal := real.functions[name]
		want, inReference := reference.functions[name]
		c.functions++
		c.instructions += len(got)
		switch {
		case !inReal:
			c.differences = append(c.differences, name+": only in the reference, where something was not inlined")
		case !inReference:
			c.differences = append(c.differences, name+": only in the real source, not in the reference")
		default:
			if d := got.difference(want); d != "" {
				c.differences = append(c.differences, name+": "+d)
			}
		}
	}
	return c
}

// difference returns the first difference of two functions, "" for none.
func (f function) difference(reference function) string {
	for i := range min(len(f), len(reference)) {
		if !f[i].same(reference[i]) {
			return fmt.Sprintf("instruction %d of %d is %q, without the calls %q (%d instructions)",
				i+1, len(f), f[i], reference[i], len(reference))
		}
	}
	if len(f) != len(reference) {
		return fmt.Sprintf("%d instructions, without the calls %d", len(f), len(reference))
	}
	return ""
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/msgpath/msgpath/counters"
)

// profileFlags name the files that profiles of all runs are written to. Set-up and
// warm-up of each run are in them too.
type profileFlags struct {
	CPU   string `name:"cpuprofile" placeholder:"FILE" help:"Write a CPU profile of all runs, whose samples have the labels site and node in a build that counts."`
	Mem   string `name:"memprofile" placeholder:"FILE" help:"Write a profile of allocations."`
	Mutex string `name:"mutexprofile" placeholder:"FILE" help:"Write a profile of contention for mutexes."`
	Block string `name:"blockprofile" placeholder:"FILE" help:"Write a profile of blocking."`
	Trace string `name:"trace" placeholder:"FILE" help:"Write an execution trace."`
}

// A profileFile is the name that a flag gives, "" for none.
type profileFile struct{ flag, name string }

// files returns what the flags say, in the order of the help.
func (f profileFlags) files() []profileFile {
	return []profileFile{
		{"cpuprofile", f.CPU},
		{"memprofile", f.Mem},
		{"mutexprofile", f.Mutex},
		{"blockprofile", f.Block},
		{"trace", f.Trace},
	}
}

// names returns the files that profiles are written to.
func (f profileFlags) names() (names []string) {
	for _, one := range f.files() {
		if one.name != "" {
			names = append(names, one.name)
		}
	}
	return names
}

// validate says which names cannot be those of profiles: two alike, whose profiles
// would be written over each other, and those for which taken has an owner.
func (f profileFlags) validate(taken func(path string) (owner string)) error {
	var errs []error
	flags := make(map[string]string) // by path
	for _, one := range f.files() {
		if one.name == "" {
			continue
		}
		if one.name == "-" {
			errs = append(errs, fmt.Errorf("--%s -: want a file: stdout is for results", one.flag))
			continue
		}
		path, err := filepath.Abs(one.name)
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s %s: %w", one.flag, one.name, err))
			continue
		}
		if other, twice := flags[path]; twice {
			errs = append(errs, fmt.Errorf("--%s %s: --%s writes that file", one.flag, one.name, other))
		} else if owner := taken(path); owner != "" {
			errs = append(errs, fmt.Errorf("--%s %s: %s", one.flag, one.name, owner))
		}
		flags[path] = one.flag
	}
	return errors.Join(errs...)
}

// profiles are being taken until they are stopped.
type profiles struct {
	stops []func() error // in order
}

// start makes every file and begins. A file that cannot be made is an error, and
// nothing is taken then.
func (f profileFlags) start() (p *profiles, err error) {
	p = new(profiles)
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
			p = nil
		}
	}()
	for _, one := range []struct {
		flag, name string
		begin      func(*os.File) (end func() error, err error)
	}{
		{"memprofile", f.Mem, memProfile},
		{"mutexprofile", f.Mutex, mutexProfile},
		{"blockprofile", f.Block, blockProfile},
		{"trace", f.Trace, executionTrace},
		{"cpuprofile", f.CPU, cpuProfile}, // the last, so that it has least of the others in it
	} {
		if one.name == "" {
			continue
		}
		if err := p.begin(one.name, one.begin); err != nil {
			return p, fmt.Errorf("--%s: %w", one.flag, err)
		}
	}
	return p, nil
}

func (p *profiles) begin(name string, begin func(*os.File) (func() error, error)) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	end, err := begin(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	p.stops = append(p.stops, func() error { return errors.Join(end(), file.Close()) })
	return nil
}

// stop writes what was taken.
func (p *profiles) stop() error {
	var errs []error
	for i := len(p.stops) - 1; i >= 0; i-- {
		errs = append(errs, p.stops[i]())
	}
	p.stops = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("write profiles: %w", err)
	}
	return nil
}

// taken says what a result that was measured meanwhile does not show.
func (p *profiles) taken() []string {
	if len(p.stops) == 0 {
		return nil
	}
	return []string{"Profiles were taken of all runs: times, memory and CPU contain what that costs."}
}

func cpuProfile(file *os.File) (func() error, error) {
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	counters.Labelling(true)
	return func() error {
		counters.Labelling(false)
		pprof.StopCPUProfile()
		return nil
	}, nil
}

// memProfile writes allocations since the start of the process, as of the last
// collection.
func memProfile(file *os.File) (func() error, error) {
	return func() error {
		runtime.GC()
		return pprof.Lookup("allocs").WriteTo(file, 0)
	}, nil
}

func mutexProfile(file *os.File) (func() error, error) {
	before := runtime.SetMutexProfileFraction(1)
	return func() error {
		defer runtime.SetMutexProfileFraction(before)
		return pprof.Lookup("mutex").WriteTo(file, 0)
	}, nil
}

func blockProfile(file *os.File) (func() error, error) {
	runtime.SetBlockProfileRate(1)
	return func() error {
		defer runtime.SetBlockProfileRate(0)
		return pprof.Lookup("block").WriteTo(file, 0)
	}, nil
}

func executionTrace(file *os.File) (func() error, error) {
	if err := trace.Start(file); err != nil {
		return nil, err
	}
	return func() error {
		trace.Stop()
		return nil
	}, nil
}

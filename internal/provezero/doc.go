// Package provezero proves that builds which do not count carry no counters,
// and measures what counting costs in builds that do. It is what
// "msgpath prove-zero" runs.
//
// # The proof
//
// Four probes look at what the compiler made of a node, which is a main package
// of any module that depends on the counters package:
//
//   - size: a Set and a Site have no size, which the compiler checks inside the
//     node's own build.
//   - symbols: the production node, not stripped, has no function and no data of
//     the counters package. Metadata of its types is allowed.
//   - sites: none of its string literals contains the name of a site.
//   - code: each function has the same machine code as in a reference source from
//     which every counting call, every block under counters.Enabled and every
//     variable, parameter, field and argument of type counters.Site has been
//     removed, and in which the functions of counters do nothing. Addresses and
//     lines are left out of the comparison; what a relocation refers to is
//     compared by name, a string by its content. Both amd64 and arm64 are
//     compiled, without cgo. Compared are counters and all packages that the
//     node links and that depend on it, of whatever module.
//
// Two controls show that the probes can fail. The counting build must have
// counters symbols and the names of all sites that it links. Production builds in
// which one function of counters is made real must be found out: by the functions
// that call it, each by name, and by the variable or the names that it keeps. One
// of them is inlined and leaves no symbol, so that code alone tells. Which
// functions are made real depends on what the node calls.
//
// The counters package is the one that this program itself was built with, by
// its import path, or else the package counters of the node's module. The
// source stands as it is: overlays of the go command hold what is changed. The
// go command replaces no file of its module cache, so modules from there are
// copied first, and a copy of go.mod says so.
//
// Not shown: that the counting build counts right (tests do that), and anything
// about packages that the node does not link. Linux only: the binary is read as
// ELF. A workspace (go.work) is left out of consideration as soon as a module
// must be copied. With CodeOnly, machine code alone is compared, without
// controls and of other packages if asked: that serves work on the source and
// is no proof.
//
// # The overhead
//
// The overhead is the CPU time per message of the micro benchmark in the
// counting build over that in the production build, run in pairs that alternate
// in order, as the median of the pairs' ratios with a 95 % interval.
//
// Nothing runs on after a call has returned; a call ends with its context. What
// is built lies in a temporary directory that is removed.
package provezero

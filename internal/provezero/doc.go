// Command provezero proves that builds which do not count carry no counters,
// and measures what counting costs in builds that do.
//
//	provezero [-node PKG] [-sites FILE]
//	provezero -code [-packages PKG,PKG]
//	provezero overhead [-command PKG] [-pairs N]
//
// # The proof
//
// Three probes look at what the compiler made:
//
//   - symbols: the production node, not stripped, has no function and no data of
//     the counters package. Metadata of its types is allowed.
//   - sites: none of its string literals contains the name of a site.
//   - code: each function has the same machine code as in a reference source from
//     which every counting call, every block under counters.Enabled and every
//     variable, parameter, field and argument of type counters.Site has been
//     removed, and in which the functions of counters do nothing. Addresses and
//     lines are left out of the comparison; what a relocation refers to is
//     compared by name, a string by its content. Both amd64 and arm64 are
//     compiled, without cgo. Compared are counters and all packages of the module
//     that the node links and that depend on it.
//
// Two controls show that the probes can fail. The counting build must have
// counters symbols and the names of all sites that it links. Production builds in
// which one function of counters is made real must be found out: by the functions
// that call it, each by name, and by the variable or the names that it keeps. One
// of them is inlined and leaves no symbol, so that code alone tells. That Set and
// Site have no size is checked by the compiler when this command is built.
//
// Not shown: that the counting build counts right (tests do that), and anything
// about packages that the node does not link. Linux only: the binary is read as
// ELF. With -code, machine code alone is compared, without controls and of other
// packages if asked: that serves work on the source and is no proof.
//
// # The overhead
//
// The overhead is the CPU time per message of the micro benchmark in the
// counting build over that in the production build, run in pairs that alternate
// in order, as the median of the pairs' ratios with a 95 % interval.
//
// Exit status: 0 proved, 1 not proved, 2 wrong usage, 3 invalid run, 4 nothing
// was examined.
package main

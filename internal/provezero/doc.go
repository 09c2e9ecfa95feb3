// Command provezero proves that builds which do not count carry no counters,
// and measures what counting costs in builds that do.
//
//	provezero [-node PKG] [-packages PKG,PKG] [-sites FILE]
//	provezero overhead [-command PKG] [-pairs N]
//
// # The proof
//
// Three probes look at what the compiler made:
//
//   - symbols: the production node, not stripped, has no function and no data of
//     the counters package. Metadata of its types is allowed.
//   - sites: none of its string literals contains the name of a site.
//   - code: each function of the packages has the same machine code as in a
//     reference source from which every counting call, every block under
//     counters.Enabled and every variable, parameter, field and argument of type
//     counters.Site has been removed. Addresses and lines are left out of the
//     comparison; what a relocation refers to is compared by name, a string by
//     its content. Both amd64 and arm64 are compiled, without cgo.
//
// Two controls show that the probes can fail: the counting build must have
// counters symbols and the names of all sites that it links, and production
// builds in which one call does something after all must be found out, one by
// symbols and code, the other by sites and code. That Set and Site have no size
// is checked by the compiler when this command is built.
//
// Not shown: that the counting build counts right (tests do that), and anything
// about packages that are not named. Linux only: the binary is read as ELF.
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

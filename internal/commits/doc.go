// Package commits runs one program as it is at two commits, by turns: A B A B.
//
// Each commit is checked out into a git worktree of its own below a temporary
// directory and built there, so that neither the working tree nor its index is
// touched; the worktrees are removed at the end, also after an error and after
// an interrupt. Runs alternate, so that what changes on the machine meanwhile
// meets both.
//
// It knows nothing of what the program measures: a run is given a directory and
// leaves files in it. Limits: one repository, one main package, programs that end
// by themselves or at an interrupt. There is nothing to Run or Close: [Run] returns when
// everything is done.
package commits

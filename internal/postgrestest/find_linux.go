package postgrestest

import "syscall"

func init() {
	all := attributes
	attributes = func(owner *syscall.Credential) *syscall.SysProcAttr {
		a := all(owner)
		a.Pdeathsig = syscall.SIGQUIT // when the thread that started it dies, which is with the process
		return a
	}
}

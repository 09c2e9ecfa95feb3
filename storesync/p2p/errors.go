package p2p

import (
	"errors"
	"fmt"
)

// Errors on which a caller may branch.
var (
	// ErrRefused is wrapped by an error of Store.Accept, or one that Stored is
	// called with, to say that the message will be refused again: it is not asked
	// for again for Options.RefusalTTL. After another error it is.
	ErrRefused = errors.New("message refused")

	ErrDeclined = errors.New("peer declined the session") // it says why
	ErrFault    = errors.New("peer broke the protocol")   // and is shunned for a while
	ErrBusy     = errors.New("a session with the peer is on")
	ErrClosed   = errors.New("closed") // Run has ended, or Close was called
)

var (
	errTime    = errors.New("session took too long")
	errUnasked = fmt.Errorf("%w: unasked message", ErrFault)
	errOther   = fmt.Errorf("%w: another message than was asked for", ErrFault)
)

// declined is an error that says why this side wants no session. The peer is told,
// unless nothing is said.
type declined struct{ why string }

func (d declined) Error() string {
	if d.why == "" {
		return "declined the session: peer is shunned"
	}
	return "declined the session: " + d.why
}

// faultf returns an error that is the peer's fault.
func faultf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrFault, fmt.Errorf(format, args...))
}

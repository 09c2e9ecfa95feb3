package archive

import (
	"fmt"
	"time"
)

// checkLive refuses what does not come from about now.
func (a *Archive) checkLive(it item) error {
	if a.options.Window == 0 {
		return nil
	}
	if it.row.Message.Timestamp == nil {
		return fmt.Errorf("%w: the message has none", ErrTimestamp)
	}
	if d := a.ahead(it); d > a.options.Window || d < -a.options.Window {
		return fmt.Errorf("%w: %v from now, want at most %v", ErrTimestamp, d, a.options.Window)
	}
	return nil
}

// checkOld refuses what is too far ahead, and what retention would delete at once.
func (a *Archive) checkOld(it item) error {
	if d := a.ahead(it); a.options.Window > 0 && d > a.options.Window {
		return fmt.Errorf("%w: %v from now, want at most %v", ErrTimestamp, d, a.options.Window)
	}
	if oldest := a.Oldest(); it.row.Key.Timestamp < oldest {
		return fmt.Errorf("%w: retention keeps what is from %d or later", ErrTimestamp, oldest)
	}
	return nil
}

// ahead returns how far a message's timestamp lies ahead of now: the nearest
// Duration where the difference is none.
func (a *Archive) ahead(it item) time.Duration {
	return time.Unix(0, it.row.Key.Timestamp).Sub(a.options.Now())
}

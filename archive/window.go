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
	if age := a.options.Retention.Age; age > 0 && a.ahead(it) < -age {
		return fmt.Errorf("%w: older than %v", ErrTimestamp, age)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if it.row.Key.Compare(a.floor) <= 0 && a.stats.Pruned > 0 {
		return fmt.Errorf("%w: retention deleted up to %d", ErrTimestamp, a.floor.Timestamp)
	}
	return nil
}

// ahead returns how far a message's timestamp lies ahead of now: the nearest
// Duration where the difference is none.
func (a *Archive) ahead(it item) time.Duration {
	return time.Unix(0, it.row.Key.Timestamp).Sub(a.options.Now())
}

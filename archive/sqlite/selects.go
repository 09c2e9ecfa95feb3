package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

const (
	// selectsMax bounds how many texts are kept prepared.
	selectsMax = 64
	// selectsArgs bounds the arguments of such a text: one with a list of topics or
	// hashes is hardly ever asked for again with a list of the same length.
	selectsArgs = 8
)

// selects are queries that are prepared when they are first asked for, and kept so:
// what SQLite does to prepare one takes longer than to read a row.
type selects struct {
	mu     sync.Mutex
	byText map[string]*sql.Stmt
}

// query executes a query, prepared if it may be.
func (s *selects) query(ctx context.Context, in *sql.DB, text string, args []any) (*sql.Rows, error) {
	if len(args) > selectsArgs {
		return in.QueryContext(ctx, text, args...)
	}
	stmt, err := s.prepare(ctx, in, text)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return in.QueryContext(ctx, text, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// prepare returns the statement of a text; nil: as many are kept as may be.
func (s *selects) prepare(ctx context.Context, in *sql.DB, text string) (*sql.Stmt, error) {
	s.mu.Lock()
	stmt, full := s.byText[text], len(s.byText) >= selectsMax
	s.mu.Unlock()
	if stmt != nil || full {
		return stmt, nil
	}
	stmt, err := in.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.byText[text]; first != nil { // somebody was faster
		return first, stmt.Close()
	}
	if s.byText == nil {
		s.byText = make(map[string]*sql.Stmt)
	}
	s.byText[text] = stmt
	return stmt, nil
}

// close closes the statements, which must come before their connections' close:
// SQLite keeps a connection that has some.
func (s *selects) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stmt := range s.byText {
		err = errors.Join(err, stmt.Close())
	}
	s.byText = nil
	return err
}

// Package postgres is an archive backend.
package postgres

// Package sitelist reads the names of counter sites, as source declares them
// and as the committed list holds them.
//
// It looks at syntax only, so that every build of a program sees the same
// declarations whatever its build tags. It follows no import and evaluates no
// expression: a site whose name is not a string literal is an error.
package sitelist

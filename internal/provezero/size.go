//go:build !msgpathcounters

package main

import (
	"unsafe"

	"github.com/msgpath/msgpath/counters"
)

// A Set and a Site take no space: a size above 0 does not compile.
var (
	_ [0]struct{} = [unsafe.Sizeof(counters.Set{})]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(counters.Site{})]struct{}{}
)

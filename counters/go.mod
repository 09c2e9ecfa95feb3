module github.com/msgpath/msgpath/counters

go 1.26.0

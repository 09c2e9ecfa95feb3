package corpus_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/msgpath/msgpath/corpus"
)

func Example() {
	dir, err := os.MkdirTemp("", "corpus")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "traffic.corpus")

	w, err := corpus.Create(corpus.Options{Path: name})
	if err != nil {
		log.Fatal(err)
	}
	w.Record(corpus.Record{At: time.Unix(1, 0), Topic: "/waku/2/rs/0/0", Message: []byte("hello")})
	if err := w.Close(); err != nil { // a node runs w.Run meanwhile
		log.Fatal(err)
	}

	file, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	for r, err := range corpus.Read(file, name) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s %q\n", r.At.Unix(), r.Topic, r.Message)
	}
	// Output: 1 /waku/2/rs/0/0 "hello"
}

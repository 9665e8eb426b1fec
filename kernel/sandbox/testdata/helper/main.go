// Helper is the static binary of the tests: the sandbox helper, and with the
// word "host" a kernel that can be killed.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"oxios/kernel/sandbox"
)

func main() {
	if sandbox.Main() {
		return
	}
	if len(os.Args) < 4 || os.Args[1] != "host" {
		os.Exit(64)
	}
	r := sandbox.New(sandbox.Config{Helper: os.Args[0]})
	r.Probe(context.Background())
	if _, err := r.Start(context.Background(), sandbox.Spec{Argv: []string{"bash", "-c", os.Args[3]}, Dir: os.Args[2], Level: r.Level()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("started")
	time.Sleep(time.Minute)
}

// Helper is the static binary of the tests: the sandbox helper, and with the
// word "host" a kernel that can be killed.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"oxios/kernel/sandbox"
	"oxios/kernel/sys"
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
	level := r.Level()
	if len(os.Args) > 4 {
		n, err := strconv.Atoi(os.Args[4])
		if err != nil {
			os.Exit(64)
		}
		level = min(level, sys.Isolation(n))
	}
	if _, err := r.Start(context.Background(), sandbox.Spec{Argv: []string{"bash", "-c", os.Args[3]}, Dir: os.Args[2], Level: level}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("started")
	time.Sleep(time.Minute)
}

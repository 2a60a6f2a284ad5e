// Clients in Go, as others write them: client-go's typed client and its informer, and a manager of controller-runtime that is
// elected and reconciles a custom kind. A test starts them, reads what they say line by line, and ends them by closing stdin.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	ctx, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = 500, 1000
	commands := map[string]func() error{
		"objects":  func() error { return objects(ctx, config) },
		"informer": func() error { return inform(ctx, config) },
		"manager":  func() error { return manage(ctx, config) },
	}
	if err := commands[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// say writes a line that the test reads.
func say(what any) {
	line, _ := json.Marshal(what)
	fmt.Println(string(line))
}

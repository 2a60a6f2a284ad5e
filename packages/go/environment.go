// Package binnacle gives Go tests a Kubernetes API server that starts, forks and resets in milliseconds. An Environment
// takes the place of envtest.Environment in suites of controller-runtime.
package binnacle

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Environment is one cluster. The zero value is ready for Start.
type Environment struct {
	// Command is the command of Binnacle with its arguments. Without it, the environment variable BINNACLE counts,
	// separated by spaces, and then "binnacle".
	Command []string
	// Flags are flags of the server, such as --emulated-version=1.31.
	Flags []string
	// CRDDirectoryPaths are files and folders with definitions of custom resources, installed by Start.
	CRDDirectoryPaths []string
	// Config connects to the cluster once it is started.
	Config *rest.Config
	// Kubeconfig is the same as a file's text.
	Kubeconfig []byte

	name   string
	server *server
	isFork bool
}

// server is a process of `binnacle test-server`.
type server struct {
	control *control
	process *exec.Cmd
	stdin   io.Closer
}

// cluster is what the control API says about one cluster.
type cluster struct {
	Name       string `json:"name"`
	Kubeconfig string `json:"kubeconfig"`
}

const stopTimeout = 30 * time.Second

// Start starts a server, installs the definitions and returns the configuration of a client.
func (e *Environment) Start() (*rest.Config, error) {
	if e.server != nil {
		return nil, errors.New("the environment is started already")
	}
	started, err := startServer(e.command(), e.Flags)
	if err != nil {
		return nil, err
	}
	e.server = started
	var first cluster
	if err = started.control.call("GET", "/clusters/first", nil, &first); err == nil {
		err = e.connect(first)
	}
	if err == nil {
		err = installDefinitions(e.Config, e.CRDDirectoryPaths)
	}
	if err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e.Config, nil
}

// Stop ends the server. On a fork, it closes the fork only.
func (e *Environment) Stop() error {
	if e.server == nil {
		return nil
	}
	stopped := e.server
	e.server = nil
	if e.isFork {
		return stopped.control.call("DELETE", "/clusters/"+e.name, nil, nil)
	}
	return stopped.stop()
}

// Fork returns a copy of the cluster as it is now, with an address of its own. Stop closes it.
func (e *Environment) Fork() (*Environment, error) {
	fork := &Environment{server: e.server, isFork: true}
	var made cluster
	if err := e.call("POST", "/fork", map[string]any{}, &made); err != nil {
		return nil, err
	}
	return fork, fork.connect(made)
}

// Reset sets the cluster back to its beginning: for the first cluster, to the moment before its definitions.
func (e *Environment) Reset() error {
	if err := e.call("POST", "/reset", map[string]any{}, nil); err != nil {
		return err
	}
	if e.isFork {
		return nil
	}
	return installDefinitions(e.Config, e.CRDDirectoryPaths)
}

// Fault is a rule: which requests it concerns, and what happens to them. See docs/testing.md.
type Fault struct {
	Match  map[string]any `json:"match,omitempty"`
	Action map[string]any `json:"action"`
}

// AddFault adds a fault rule and returns its number.
func (e *Environment) AddFault(fault Fault) (int, error) {
	var added struct {
		Rule int `json:"rule"`
	}
	err := e.call("POST", "/faults", fault, &added)
	return added.Rule, err
}

// ClearFaults removes all fault rules.
func (e *Environment) ClearFaults() error {
	return e.call("DELETE", "/faults", nil, nil)
}

// FreezeClock stops the time of the cluster at a moment.
func (e *Environment) FreezeClock(at time.Time) error {
	return e.call("POST", "/clock", map[string]any{"freeze": at.UTC().Format(time.RFC3339)}, nil)
}

// AdvanceClock moves the time of the cluster forward.
func (e *Environment) AdvanceClock(by time.Duration) error {
	advance := fmt.Sprintf("%dms", by.Milliseconds())
	return e.call("POST", "/clock", map[string]any{"advance": advance}, nil)
}

func (e *Environment) call(method, path string, body, result any) error {
	if e.server == nil {
		return errors.New("the environment is not started")
	}
	return e.server.control.call(method, "/clusters/"+e.name+path, body, result)
}

func (e *Environment) connect(made cluster) error {
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(made.Kubeconfig))
	if err != nil {
		return err
	}
	// Tests send bursts; the server limits them itself.
	config.QPS, config.Burst = 1000, 2000
	e.name, e.Config, e.Kubeconfig = made.Name, config, []byte(made.Kubeconfig)
	return nil
}

func (e *Environment) command() []string {
	if len(e.Command) > 0 {
		return e.Command
	}
	if words := strings.Fields(os.Getenv("BINNACLE")); len(words) > 0 {
		return words
	}
	return []string{"binnacle"}
}

func startServer(command, flags []string) (*server, error) {
	arguments := append([]string{}, command[1:]...)
	arguments = append(append(arguments, "test-server", "--exit-with=stdin"), flags...)
	process := exec.Command(command[0], arguments...)
	process.Stderr = os.Stderr
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	err = process.Start()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: install Binnacle, or set BINNACLE to its command", err)
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s did not start", strings.Join(command, " ")), process.Wait())
	}
	var address address
	if err = json.Unmarshal(line, &address); err != nil {
		return nil, err
	}
	control, err := newControl(address)
	return &server{control: control, process: process, stdin: stdin}, err
}

// stop closes the standard input of the server, which ends it.
func (s *server) stop() error {
	ended := make(chan error, 1)
	go func() { ended <- s.process.Wait() }()
	if err := s.stdin.Close(); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(stopTimeout):
		return errors.Join(errors.New("the server does not end"), s.process.Process.Kill())
	}
}

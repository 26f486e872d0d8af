// SPDX-License-Identifier: GPL-3.0-or-later

// Policies for clustersim in Go, as a program: see policies/PROTOCOL.md.
//
//	cd policies/clients/go && go build -o client .
//	policies: [{exec: ./client easy}]
//
// This file speaks the protocol, with the standard library alone; policies.go and
// dynamic.go are fcfs, sjf, easy and dynamic, each as the built-in one, to the byte.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
)

const whole = -1 // the role of a task that is a whole job

// A Task is what waits: a whole job, or a role of one.
type Task struct {
	Job        int64
	Role       int
	Gpus       int64
	EstimateNs int64 `json:"estimate_ns"`
	Held       bool
	Started    bool
	made       int
	of         *Job
}

type Job struct {
	Job, Form, Priority int64
}

type Role struct {
	Gpus    int64
	OnCores int64 `json:"on_cores"`
}

type Form struct {
	Form  int64
	Roles []Role
}

type Lease struct {
	Job  int64
	Role int
	Gpus int64
}

// A Message is what clustersim sends; Want and the like are in its answers.
type Message struct {
	N     int64
	Hello json.RawMessage
	End   json.RawMessage
	Start *struct {
		Blocking string
		Params   json.RawMessage
	}
	Now      int64
	Again    bool
	Free     []int64
	IdleGpus []int64 `json:"idle_gpus"`
	Forms    []Form
	Jobs     []Job
	Ended    []int64
	Waits    []json.RawMessage
	Gone     []Task
	Idle     []Lease
	Verdicts []json.RawMessage
}

// A Request is one item of `do`: its text, and the task that it would start.
type Request struct {
	text   string
	job    int64
	role   int
	starts bool
}

// Do makes a request for a task; more is JSON such as `,"pools":3`.
func Do(verb string, t *Task, more string) Request {
	role := ""
	if t.Role != whole {
		role = fmt.Sprintf(`,"role":%d`, t.Role)
	}
	return Request{fmt.Sprintf(`{"%s":%d%s%s}`, verb, t.Job, role, more), t.Job, t.Role,
		verb == "start" || verb == "continue" || verb == "settle"}
}

// Ask makes a question, or a request that is of no task.
func Ask(verb string, number int64, more string) Request {
	return Request{text: fmt.Sprintf(`{"%s":%d%s}`, verb, number, more)}
}

// A Policy decides: it returns its last requests.
type Policy interface {
	Hello() string // the answer's keys behind `protocol`
	Begin(c *Client, params json.RawMessage)
	Decide(c *Client) []Request
	Before(a, b *Task) bool
}

// A Client is what is known of a trial.
type Client struct {
	Message
	Skip    bool
	Waiting []*Task // in order
	jobs    map[int64]*Job
	forms   map[int64]*Form
	policy  Policy
	in      *bufio.Reader
	out     *bufio.Writer
	asked   []Request
	made    int
	open    bool // the message is not answered
}

func (c *Client) leave(job int64, role int) {
	for i, t := range c.Waiting {
		if t.Job == job && t.Role == role {
			c.Waiting = append(c.Waiting[:i], c.Waiting[i+1:]...)
			return
		}
	}
}

// Find returns what waits of a role, or nil.
func (c *Client) Find(job int64, role int) *Task {
	for _, t := range c.Waiting {
		if t.Job == job && t.Role == role {
			return t
		}
	}
	return nil
}

func (c *Client) news() {
	for i := range c.Verdicts {
		if i < len(c.asked) && c.asked[i].starts && string(c.Verdicts[i]) == `"done"` {
			c.leave(c.asked[i].job, c.asked[i].role)
		}
	}
	for i := range c.Forms {
		c.forms[c.Forms[i].Form] = &c.Forms[i]
	}
	for i := range c.Jobs {
		c.jobs[c.Jobs[i].Job] = &c.Jobs[i]
	}
	for _, job := range c.Ended {
		for role := whole; role < 6; role++ {
			c.leave(job, role)
		}
		delete(c.jobs, job)
	}
	for _, gone := range c.Gone {
		c.leave(gone.Job, gone.Role)
	}
	for _, item := range c.Waits {
		t := &Task{Role: whole, made: c.made}
		check(json.Unmarshal(item, t))
		c.made++
		t.of = c.jobs[t.Job]
		at := sort.Search(len(c.Waiting), func(i int) bool {
			return c.policy.Before(t, c.Waiting[i])
		})
		c.Waiting = append(c.Waiting, nil)
		copy(c.Waiting[at+1:], c.Waiting[at:])
		c.Waiting[at] = t
	}
}

// read takes the next message; false: there is none.
func (c *Client) read() bool {
	line, err := c.in.ReadSlice('\n')
	for full := []byte(nil); err == bufio.ErrBufferFull; {
		full = append(full, line...)
		line, err = c.in.ReadSlice('\n')
		line = append(full, line...)
		full = line
	}
	if err != nil {
		return false
	}
	c.Message = Message{}
	check(json.Unmarshal(line, &c.Message))
	c.open = true
	if c.Hello == nil && c.Start == nil && c.End == nil {
		c.news()
	}
	return true
}

func (c *Client) answer(do []Request, again string) {
	fmt.Fprintf(c.out, `{"n":%d,"do":[`, c.N)
	for i, request := range do {
		if i > 0 {
			c.out.WriteByte(',')
		}
		c.out.WriteString(request.text)
	}
	c.out.WriteByte(']')
	if c.Skip {
		c.out.WriteString(`,"skip":true`)
	}
	if again != "" {
		fmt.Fprintf(c.out, `,"again":"%s"`, again)
	}
	c.out.WriteString("}\n")
	check(c.out.Flush())
	c.asked, c.open = do, false
}

// Go goes on with the decision: it returns the verdicts.
func (c *Client) Go(do ...Request) []json.RawMessage {
	c.answer(do, "always")
	if !c.read() {
		os.Exit(0)
	}
	return c.Verdicts
}

// Unless goes on if one is refused; false: none was, and the decision is over.
func (c *Client) Unless(do []Request) ([]json.RawMessage, bool) {
	c.answer(do, "refused")
	if !c.read() {
		os.Exit(0)
	}
	return c.Verdicts, c.Again
}

func sum(of []int64) (all int64) {
	for _, n := range of {
		all += n
	}
	return
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// forget begins a trial: nothing of the last one is left but the message.
func (c *Client) forget(policy Policy) {
	*c = Client{Message: c.Message, in: c.in, out: c.out, open: c.open, policy: policy,
		jobs: map[int64]*Job{}, forms: map[int64]*Form{}}
}

func main() {
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread()
	name := strings.Join(os.Args[1:], " ")
	makePolicy, ok := policies[name]
	if !ok {
		check(fmt.Errorf("no policy '%s': fcfs, sjf, easy and dynamic are", name))
	}
	c := &Client{in: bufio.NewReaderSize(os.Stdin, 1<<20), out: bufio.NewWriter(os.Stdout)}
	for c.open || c.read() {
		switch {
		case c.Hello != nil:
			c.forget(makePolicy())
			fmt.Fprintf(c.out, `{"n":0,"protocol":1,"reuse":true,"name":"%s",%s}`+"\n", name,
				c.policy.Hello())
			check(c.out.Flush())
			c.open = false
		case c.Start != nil:
			c.Skip = c.Start.Blocking == "skip"
			c.policy.Begin(c, bytes.TrimSpace(c.Start.Params))
			fmt.Fprintf(c.out, `{"n":%d}`+"\n", c.N)
			check(c.out.Flush())
			c.open = false
		case c.End != nil:
			fmt.Fprintf(c.out, `{"n":%d}`+"\n", c.N)
			check(c.out.Flush())
			c.open = false
		default:
			n := c.N
			if do := c.policy.Decide(c); c.N == n || c.Again {
				c.answer(do, "")
			}
		}
	}
}

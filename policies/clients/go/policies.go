// SPDX-License-Identifier: GPL-3.0-or-later

package main

import "encoding/json"

// What makes a policy for a trial.
var policies = map[string]func() Policy{
	"fcfs":    func() Policy { return &inOrder{} },
	"sjf":     func() Policy { return &inOrder{sjf: true} },
	"easy":    func() Policy { return &easy{} },
	"dynamic": func() Policy { return &dynamic{} },
}

// Tasks in order while the free GPUs suffice, or with skip all that fit: fcfs and sjf.
type inOrder struct{ sjf bool }

func (p *inOrder) Hello() string {
	if p.sjf {
		return `"flags":["blocking","estimates"],"order":["estimate"]`
	}
	return `"flags":["blocking","estimates"]`
}

func (p *inOrder) Begin(*Client, json.RawMessage) {}

func (p *inOrder) Before(a, b *Task) bool {
	if p.sjf && a.EstimateNs != b.EstimateNs {
		return a.EstimateNs < b.EstimateNs
	}
	return a.Job < b.Job
}

func (p *inOrder) Decide(c *Client) (do []Request) {
	tried := map[int64]bool{}
	for {
		free := sum(c.Free)
		do = nil
		for _, t := range c.Waiting {
			if t.Gpus > free && !c.Skip {
				break
			}
			if t.Gpus <= free && !tried[t.Job] {
				free -= t.Gpus
				tried[t.Job] = true
				do = append(do, Do("start", t, ""))
			}
		}
		if !c.Skip || len(do) == 0 {
			return do
		}
		if _, again := c.Unless(do); !again {
			return nil
		}
	}
}

// EASY backfill: one reservation, for the head of the queue.
type easy struct{}

func (p *easy) Hello() string                  { return `"flags":["reserves","estimates"]` }
func (p *easy) Begin(*Client, json.RawMessage) {}
func (p *easy) Before(a, b *Task) bool         { return a.Job < b.Job }

func (p *easy) Decide(c *Client) (do []Request) {
	free := sum(c.Free)
	for _, t := range c.Waiting {
		if t.Gpus > free {
			break
		}
		free -= t.Gpus
		do = append(do, Do("start", t, ""))
	}
	if len(do) > 0 {
		c.Go(do...)
	}
	if len(c.Waiting) < 2 || sum(c.Free) == 0 {
		return nil
	}
	var at struct {
		AtNs  int64 `json:"at_ns"`
		Spare int64
	}
	check(json.Unmarshal(c.Go(Ask("earliest", c.Waiting[0].Gpus, ""))[0], &at))
	return p.backfill(c, at.AtNs-c.Now, at.Spare)
}

// Starts what ends in time, and what fits beside the head.
func (p *easy) backfill(c *Client, inTimeNs, spare int64) []Request {
	passed := map[int64]bool{c.Waiting[0].Job: true}
	for {
		var do []Request
		var tasks []*Task
		free, left := sum(c.Free), spare
		for _, t := range c.Waiting {
			late := t.EstimateNs > inTimeNs
			if passed[t.Job] || t.Gpus > free || (late && t.Gpus > left) {
				continue
			}
			free -= t.Gpus
			if late {
				left -= t.Gpus
			}
			tasks = append(tasks, t)
			do = append(do, Do("start", t, ""))
		}
		if len(do) == 0 {
			return nil
		}
		verdicts, again := c.Unless(do)
		if !again {
			return nil
		}
		// They were started up to the one that was refused, and all before it were
		// looked at.
		last := len(verdicts) - 1
		for _, t := range tasks[:last] {
			if t.EstimateNs > inTimeNs {
				spare -= t.Gpus
			}
		}
		for _, t := range c.Waiting {
			if t.Job <= tasks[last].Job {
				passed[t.Job] = true
			}
		}
	}
}

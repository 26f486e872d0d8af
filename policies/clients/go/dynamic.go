// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"encoding/json"
	"fmt"
	"math"
)

const (
	onCores = 4294967295
	fullMax = 16
)

const ( // what is alike to a task that was tried
	none = iota
	asLong
	all
)

// Leases per phase, idle GPUs lent where switching pays.  policies/phases/dynamic.c says
// why it does what it does.
type dynamic struct {
	Lend       bool
	GainMin    float64 `json:"gain_min"`
	LendMax    float64 `json:"lend_max"`
	ReleaseMax float64 `json:"release_max"`
	full       []kind
	wakes      []Request
}

type kind struct {
	form, gpus int64
	role       int
}

type site struct {
	Pools   int64
	GpuType int64 `json:"gpu_type"`
}

type about struct {
	Home       int64
	SwitchS    float64 `json:"switch_s"`
	SwitchLoss float64 `json:"switch_loss"`
	Settled    bool
	MostGpus   int64 `json:"most_gpus"`
	Sites      []site
}

type forecast struct {
	RunS    float64 `json:"run_s"`
	SwitchS float64 `json:"switch_s"`
	EvictS  float64 `json:"evict_s"`
}

type choice struct {
	want                            string
	overS                           float64
	found, held, holds, away, spare bool
	room                            bool
}

func (d *dynamic) Hello() string {
	return `"flags":["per_phase","homes","forecasts","grows"],"order":["-priority","job"],` +
		`"params":[{"key":"lend","kind":"bool","default":true,"help":"may a phase use GPUs ` +
		`outside the pool of its role"},{"key":"gain_min","kind":"real","default":1.0,` +
		`"min":0,"max":100,"help":"seconds gained per second of switching, at least"},` +
		`{"key":"lend_max","kind":"fraction","default":"50%","min":0,"max":100,"help":` +
		`"a job whose switches take more of a step keeps its GPUs"},{"key":"release_max",` +
		`"kind":"fraction","default":"10%","min":0,"max":100,"help":"a job whose switches ` +
		`take no more of a step gives its GPUs back"}]`
}

func (d *dynamic) Begin(c *Client, params json.RawMessage) {
	check(json.Unmarshal(params, d))
	c.Skip = true
}

func (d *dynamic) Before(a, b *Task) bool {
	if a.of.Priority != b.of.Priority {
		return a.of.Priority > b.of.Priority
	}
	if a.Job != b.Job {
		return a.Job < b.Job
	}
	return a.made < b.made
}

// read returns what a verdict holds if it is a map.
func read[T any](verdict json.RawMessage) (out T, ok bool) {
	if len(verdict) == 0 || verdict[0] != '{' {
		return out, false
	}
	check(json.Unmarshal(verdict, &out))
	return out, true
}

func (d *dynamic) Decide(c *Client) []Request {
	do := d.releases(c)
	if len(c.Waiting) > 0 {
		do = append(do, Ask("anew", 0, ""))
	}
	d.full = nil
	for len(c.Waiting) > 0 {
		verdicts := c.Go(append(do, Ask("next", 0, ""))...)
		next, ok := read[Lease](verdicts[len(verdicts)-1])
		if !ok {
			return nil
		}
		t := c.Find(next.Job, next.Role)
		if d.tooLarge(c, t) || d.isFull(t) {
			do = []Request{tried(t, all)}
		} else {
			do = d.attempt(c, t)
		}
	}
	return do
}

// GPUs that are had back almost for nothing are not held between phases.
func (d *dynamic) releases(c *Client) (do []Request) {
	for _, idle := range c.Idle {
		if c.Find(idle.Job, idle.Role) != nil {
			continue
		}
		role := fmt.Sprintf(`,"role":%d`, idle.Role)
		verdicts := c.Go(append(do, Ask("about", idle.Job, role))...)
		of, ok := read[about](verdicts[len(verdicts)-1])
		do = nil
		if ok && ((idle.Gpus > 0 && of.SwitchLoss <= d.ReleaseMax) ||
			(idle.Gpus == 0 && !of.Settled)) {
			do = append(do, Ask("release", idle.Job, role))
		}
	}
	return
}

func tried(t *Task, alike int) Request {
	return Do("tried", t, fmt.Sprintf(`,"alike":%d`, alike))
}

func (d *dynamic) tooLarge(c *Client, t *Task) bool {
	if t.Held || c.forms[t.of.Form].Roles[t.Role].OnCores > 0 {
		return false
	}
	gpus := sum(c.Free) + sum(c.IdleGpus)
	return t.Gpus > gpus && t.Gpus > 1
}

func kindOf(t *Task) kind { return kind{t.of.Form, t.Gpus, t.Role} }

func (d *dynamic) isFull(t *Task) bool {
	for _, k := range d.full {
		if !t.Held && k == kindOf(t) {
			return true
		}
	}
	return false
}

// attempt returns the requests that a task comes to.
func (d *dynamic) attempt(c *Client, t *Task) []Request {
	of, _ := read[about](c.Go(Do("about", t, ""))[0])
	if t.Gpus > 0 && !of.Settled && of.SwitchLoss > d.LendMax {
		return []Request{Do("settle", t, ""), tried(t, none)}
	}
	d.wakes = nil
	best := d.choose(c, t, of)
	if best.found && best.held {
		return []Request{Do("continue", t, ""), tried(t, none)}
	}
	if best.found && !d.awaits(c, t, of, best) {
		return append(d.wakes, Do("start", t, best.want), tried(t, none))
	}
	alike := all
	if best.found || best.room {
		alike = asLong
	}
	if alike == all && len(d.full) < fullMax {
		d.full = append(d.full, kindOf(t))
	}
	return append(d.wakes, tried(t, alike))
}

// awaits says whether the phase would be over earlier if it waited for its own pool.
func (d *dynamic) awaits(c *Client, t *Task, of about, best choice) bool {
	if of.Home == 0 || t.Gpus == 0 {
		return false
	}
	var wait *float64
	check(json.Unmarshal(c.Go(Ask("room_in", t.Gpus,
		fmt.Sprintf(`,"pools":%d`, of.Home)))[0], &wait))
	return wait != nil && *wait > 0 && *wait+float64(t.EstimateNs)/1e9 < best.overS
}

// wants returns the wants of all sites within those pools.
func wants(of about, pools, gpus int64, cores bool) (out []string) {
	size := ""
	if gpus > 0 {
		size = fmt.Sprintf(`,"gpus":%d`, gpus)
	}
	if len(of.Sites) == 0 {
		return []string{fmt.Sprintf(`,"pools":%d`, pools) + size}
	}
	for _, s := range of.Sites {
		if (pools == 0 || s.Pools&^pools == 0) && (cores || s.GpuType != onCores) {
			out = append(out, fmt.Sprintf(`,"pools":%d,"gpu_type":%d`, s.Pools, s.GpuType)+size)
		}
	}
	return
}

const takeIdle = `,"take_idle":true`

func (d *dynamic) choose(c *Client, t *Task, of about) (best choice) {
	parts := [][]string{wants(of, of.Home, 0, true)}
	if t.Gpus > 0 && d.Lend {
		if of.Home != 0 {
			parts = append(parts, wants(of, 0, 0, true))
		} else {
			parts = append(parts, nil)
		}
		if len(c.Waiting) == 1 && of.MostGpus > t.Gpus {
			parts = append(parts, wants(of, 0, of.MostGpus, false))
		}
	}
	do := []Request{Do("forecast_held", t, "")}
	count := 0
	for _, taken := range []string{"", takeIdle} {
		count = 0
		for _, part := range parts {
			for _, want := range part {
				do = append(do, Do("forecast", t, want+taken))
				count++
			}
		}
	}
	answers := c.Go(do...)
	if held, ok := read[forecast](answers[0]); ok {
		best = choice{overS: held.RunS, found: true, held: true, holds: true}
	}
	later := d.laterForecasts(c, t, parts, answers[1+count:])
	d.compare(c, t, of, parts, answers[1:1+count], later, &best)
	return
}

// A later forecast is one that takes only leases that have been idle for long enough.
type later struct {
	answer json.RawMessage
	idleNs int64
	room   bool
}

func (d *dynamic) laterForecasts(c *Client, t *Task, parts [][]string,
	taken []json.RawMessage) (out []later) {
	var do []Request
	i := 0
	for _, part := range parts {
		for _, want := range part {
			f, ok := read[forecast](taken[i])
			item := later{taken[i], 0, ok}
			if rest := float64(d.GainMin*(f.SwitchS+f.EvictS)) - f.RunS; ok && rest > 0 {
				item.idleNs = int64(math.Min(rest, 1e6) * 1e9)
			}
			if item.idleNs > 0 {
				do = append(do, Do("forecast", t, want+takeIdle+
					fmt.Sprintf(`,"idle_ns":%d`, item.idleNs)))
			}
			out = append(out, item)
			i++
		}
	}
	if len(do) == 0 {
		return
	}
	answers := c.Go(do...)
	for i, k := 0, 0; i < len(out); i++ {
		if out[i].idleNs > 0 {
			out[i].answer = answers[k]
			k++
		}
	}
	return
}

func (d *dynamic) compare(c *Client, t *Task, of about, parts [][]string,
	free []json.RawMessage, taken []later, best *choice) {
	gpuRoles := 0
	for _, role := range c.forms[t.of.Form].Roles {
		if role.Gpus > 0 {
			gpuRoles++
		}
	}
	i := 0
	for p, part := range parts {
		if p > 0 {
			best.away = of.Home != 0 && gpuRoles > 1 && of.SwitchLoss > d.ReleaseMax
			best.spare = best.away
		}
		for _, want := range part {
			d.consider(t, of, want, free[i], best)
			if !best.spare && taken[i].room {
				best.room = true
				more := want + takeIdle
				if taken[i].idleNs > 0 {
					more += fmt.Sprintf(`,"idle_ns":%d`, taken[i].idleNs)
				}
				d.consider(t, of, more, taken[i].answer, best)
				if !best.found {
					d.wakes = append(d.wakes, Ask("wake_when_idle", taken[i].idleNs, ""))
				}
			}
			i++
		}
	}
}

// consider takes the want if it is over earlier; switching is charged at gain_min.
// float64() keeps a product from being fused with a sum, which would change bytes.
func (d *dynamic) consider(t *Task, of about, want string, answer json.RawMessage,
	best *choice) {
	f, ok := read[forecast](answer)
	if !ok {
		return
	}
	switchS := f.SwitchS
	if t.Started && t.Gpus > 0 {
		switchS = math.Max(switchS, of.SwitchS)
	}
	over := f.RunS + switchS + float64(d.GainMin*f.EvictS)
	if best.holds {
		over += float64((d.GainMin - 1) * switchS)
	}
	if best.away {
		over += float64(d.GainMin * switchS)
	}
	if best.found && over >= best.overS {
		return
	}
	best.want, best.overS, best.found, best.held = want, over, true, false
}

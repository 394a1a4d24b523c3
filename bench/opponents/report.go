package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
)

// What a process has used so far, and what it holds.
type usage struct {
	CPUMs     float64 `json:"cpuMs"`
	HeapBytes uint64  `json:"heapBytes"`
	Events    int64   `json:"events"`
	Objects   int     `json:"objects"`
}

type order struct {
	Do      string `json:"do"`
	Events  int64  `json:"events"`
	Collect bool   `json:"collect"`
}

// Counts what was handled, and tells when a number is reached: nobody has to poll a process that is being measured.
type counter struct {
	count   atomic.Int64
	target  atomic.Int64
	reached chan struct{}
}

func newCounter() *counter {
	return &counter{reached: make(chan struct{}, 1)}
}

func (c *counter) add() {
	if c.count.Add(1) == c.target.Load() {
		c.tell()
	}
}

func (c *counter) tell() {
	select {
	case c.reached <- struct{}{}:
	default:
	}
}

func (c *counter) await(events int64) {
	select {
	case <-c.reached:
	default:
	}
	c.target.Store(events)
	if c.count.Load() >= events {
		return
	}
	for range c.reached {
		if c.count.Load() >= events {
			return
		}
	}
}

func cpuMs() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail(err)
	}
	ms := func(of syscall.Timeval) float64 { return float64(of.Sec)*1e3 + float64(of.Usec)/1e3 }
	return ms(used.Utime) + ms(used.Stime)
}

// What is reachable, and nothing else.
func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc
}

// The first line: everything is listed. `heap` is what the process held before.
func ready(heap uint64) {
	answer(usage{CPUMs: cpuMs(), HeapBytes: heap})
}

func answer(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

// Serves orders until the input ends. `open` lets go what waits for it: the watch, or the workers.
func serve(counted *counter, objects func() int, open func()) error {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var told order
		if err := json.Unmarshal(input.Bytes(), &told); err != nil {
			return err
		}
		switch told.Do {
		case "open":
			open()
		case "reset":
			counted.count.Store(0)
		case "await":
			counted.await(told.Events)
		}
		now := usage{CPUMs: cpuMs(), Events: counted.count.Load()}
		// What looking costs is not part of what is measured next: nobody collects in the middle of a phase.
		if told.Collect {
			now.HeapBytes = heapBytes()
			now.Objects = objects()
		}
		answer(now)
	}
	return input.Err()
}

//go:build !unix

package main

import "time"

var processBegan = time.Now()

// processorTime returns the time since the process began, because this system has no portable processor time.
func processorTime() time.Duration { return time.Since(processBegan) }

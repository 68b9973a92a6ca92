//go:build !unix

package main

import "time"

var processBegan = time.Now()

// processorTime returns the time since the process began, since there is no portable way to ask for processor time.
func processorTime() time.Duration { return time.Since(processBegan) }

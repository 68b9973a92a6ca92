// Package jobs has eleven jobs of agents, each as a whole program of at most 16 lines. Its tests build the programs and
// run them against a server that speaks the protocol of chat completions.
package jobs

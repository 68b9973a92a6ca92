// Package mail is a spec whose hooks can be written in any language.
package mail

import "github.com/hookgen/hookgen/spec"

//go:generate go run ../../../cmd/hookgen
//go:generate go run ../../../cmd/hookgen export -o schema

// Points are the fire points of a program that sends messages.
//
//hookgen:points
//hookgen:wire
type Points interface {
	// BeforeSend fires before a message is sent. Hooks may change it or refuse it.
	BeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)
	// OnSent fires after a message was sent.
	OnSent(Message)
}

// A Message is the payload of both points.
type Message struct {
	To   string `json:"to"`   // an address
	Text string `json:"text"` // without HTML
}

// Refuse keeps a message from being sent.
type Refuse struct {
	Reason string `json:"reason"`
}

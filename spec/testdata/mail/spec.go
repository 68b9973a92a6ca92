// Package mail shows every law of the spec language in a program that sends messages.
package mail

import "github.com/hookgen/hookgen/spec"

//go:generate go tool hookgen

// Points are the fire points, in the order in which a message reaches them.
//
//hookgen:points
type Points interface {
	spec.Env[*Account] // every hook sees it as run.Env

	// BeforeSend fires before a message is sent: hooks may change it, or refuse to send it.
	BeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)

	// MaySend asks, about the message as BeforeSend left it, whether it may be sent.
	MaySend(Message) (spec.Vote, Refuse, Hold, Allow, spec.FailClosed)

	// Footer collects lines that go below the text.
	Footer(Message) spec.Collect[string]

	// AroundSend wraps the sending itself.
	AroundSend(Message) spec.Around[Receipt]

	Delivery
}

// Delivery groups the points that fire after a message was sent.
type Delivery interface {
	// AfterSend fires on the way back, so the hook that was first before sending is now last.
	AfterSend(Receipt) (spec.Reverse, spec.Replace, spec.FailOpen)

	// BeforeShow fires before a message is shown: hooks may change the text, but not the sender.
	BeforeShow(Message) (spec.Edit[Text], spec.FailOpen)

	// BeforeSave may refuse to keep a copy.
	BeforeSave(Message) spec.Check

	// OnSent fires after a message was sent.
	OnSent(Receipt)
}

// An Account is the account of the sender.
type Account struct {
	Name string
}

// A Message is sent from one account to another.
type Message struct {
	From, To string
	Body     Text
}

// Text is the text of a message.
type Text string

// A Receipt says how a message was delivered.
type Receipt struct {
	Way string
}

// Refuse keeps a message from being sent.
type Refuse struct {
	Reason string
}

// Hold keeps a message until a person has looked at it.
type Hold struct {
	Reason string
}

// Allow lets a message be sent.
type Allow struct{}

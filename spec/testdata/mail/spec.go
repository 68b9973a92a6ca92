// Package mail shows every law of the spec language in a program that sends messages.
package mail

import "github.com/hookgen/hookgen/spec"

//go:generate go tool hookgen

// Points are the fire points, in the order in which a message reaches them.
//
//hookgen:points
type Points interface {
	spec.Env[*Account] // what every hook sees beside its payload

	// BeforeSend fires before a message is sent: hooks may change it, or refuse to send it.
	BeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)

	// MaySend asks, about the message as BeforeSend left it, whether it may be sent.
	MaySend(Message) (spec.Vote, Refuse, Hold, Allow, spec.FailClosed)

	// Footer gathers lines that stand below the text.
	Footer(Message) spec.Collect[string]

	// AroundSend wraps the sending itself.
	AroundSend(Message) spec.Around[Receipt]

	Delivery
}

// Delivery groups what fires once a message was sent.
type Delivery interface {
	// AfterSend fires on the way back, so the hook that was first is now last.
	AfterSend(Receipt) (spec.Reverse, spec.Replace, spec.FailOpen)

	// BeforeShow fires before a message is shown: hooks may change the text, not whose it is.
	BeforeShow(Message) (spec.Edit[Text], spec.FailOpen)

	// BeforeSave may refuse to keep a copy.
	BeforeSave(Message) spec.Check

	// OnSent tells that a message was sent.
	OnSent(Receipt)
}

// An Account is the sender's.
type Account struct {
	Name string
}

// A Message goes from one account to another.
type Message struct {
	From, To string
	Body     Text
}

// Text is what a message says.
type Text string

// A Receipt says by which way a message went.
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

package nats

import "fmt"

// A Conflict is the error of a change that expected another revision.
type Conflict struct{ Key string }

// Error names the key.
func (e *Conflict) Error() string {
	return fmt.Sprintf("the value of %.80q was changed by another; read it again", e.Key)
}

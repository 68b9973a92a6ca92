package wire

import (
	"context"

	"github.com/hookgen/hookgen/hookkit/internal/strictjson"
)

// UnmarshalReply reads a reply as strictly as the decision in it is read. A key given twice, a field that the message
// does not have and that is not zero, and text that is not UTF-8 are errors, for which the package comment has the
// reasons. Transports use it, with the context of the call, so that a long reply does not exceed the time of the call.
// The argument into points to a [Reply], or to a struct of the transport that embeds one.
func UnmarshalReply(ctx context.Context, text []byte, into any) error {
	return strictjson.Decision.Unmarshal(ctx, text, into, "$")
}

// UnmarshalRequest is UnmarshalReply for a [Request]. It ignores unknown fields, because a newer program may send them,
// and refuses a key that differs from a field in its case alone.
func UnmarshalRequest(ctx context.Context, text []byte, into any) error {
	return strictjson.Request.Unmarshal(ctx, text, into, "$")
}

package adapt

import "github.com/hookgen/hookgen/generated/agent"

// results are the results of the calls of a run. Only the last ones are kept if there is a limit.
type results struct {
	calls   []agent.ToolCallResult
	size    int // of calls
	dropped int
}

// add adds a result, and drops the first ones until the size is within the limit. 0: no limit.
func (r *results) add(result agent.ToolCallResult, limit int) {
	r.calls = append(r.calls, result)
	r.size += sizeOf(result)
	for limit > 0 && r.size > limit {
		r.size -= sizeOf(r.calls[0])
		r.calls[0] = agent.ToolCallResult{} // the array is shared with the slice
		r.calls = r.calls[1:]
		r.dropped++
	}
}

// sizeOf returns about the bytes of a result in memory.
func sizeOf(r agent.ToolCallResult) int {
	const fields = 500 // the structure, without the texts
	size := fields + len(r.Call.ID) + len(r.Call.Name) + len(r.Call.Args) + len(r.Output) + len(r.Err) + len(r.Reason)
	for _, p := range r.Parts {
		size += len(p.MediaType) + len(p.Data) + len(p.URL) + len(p.Name)
	}
	for _, texts := range [][]string{r.Warnings, r.Context} {
		for _, text := range texts {
			size += len(text)
		}
	}
	return size
}

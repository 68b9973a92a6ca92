package loop

import (
	"cmp"
	"fmt"
	"math"

	"github.com/hookgen/hookgen/generated/agent"
)

// pricers returns whatever computes the costs of the run: the pricers that hooks have set for it and for the runs that
// started it, and the model. The first one that knows a price counts. For example, a sub-agent has prices of its own,
// and the model that it uses is in those of the outer run.
func (r *run) pricers() (all []agent.Pricer) {
	for holder := r; holder != nil; holder = holder.outer {
		if pricer := holder.pricer.get(); !isNil(pricer) {
			all = append(all, pricer)
		}
	}
	if model, ok := r.model.(agent.Pricer); ok {
		all = append(all, model)
	}
	return all
}

// price returns the cost of a reply, and whether it is known. A pricer that panics is ignored with a warning.
func (r *run) price(req agent.LLMRequest, reply agent.LLMResponse) (cost float64, known bool) {
	names := []string{req.Model, r.answering(req), r.agent.Request.Model}
	if names[1] != "" {
		names = names[:2]
	}
	for _, pricer := range r.pricers() {
		for i, name := range names {
			if i > 0 && name == names[i-1] {
				continue
			}
			req.Model = name
			err := recoverAsError("the pricer", func() error { cost, known = pricer.Price(req, reply); return nil })
			if err != nil {
				r.warn("%v; the cost that the model reported counts", err)
				break
			}
			if known && cost >= 0 && !math.IsInf(cost, 1) { // others cannot be encoded as JSON
				return cost, true
			}
		}
	}
	return reply.Usage.Cost, reply.Usage.Cost > 0
}

// answering returns the name of the model that answers a request, or "".
func (r *run) answering(req agent.LLMRequest) string {
	name := req.Model
	if model, ok := r.model.(agent.NamedModel); ok {
		_ = recoverAsError("ModelName", func() error { name = model.ModelName(req.Model); return nil })
	}
	return name
}

// priced returns the reply with its cost. If a limit on the cost applies to the run and the cost is unknown,
// stopUnpriced stops the run.
func (r *run) priced(req agent.LLMRequest, reply agent.LLMResponse) agent.LLMResponse {
	cost, known := r.price(req, reply)
	if known {
		reply.Usage.Cost = cost
	} else if holder := r.costLimited(); holder != nil {
		_ = holder.unpriced(r, orElse(r.answering(req), reply.Model))
	}
	return reply
}

// costLimited returns the run whose limit on the cost applies to calls of this run, or nil.
func (r *run) costLimited() *run {
	for ; r != nil; r = r.outer {
		if r.limits.Cost > 0 {
			return r
		}
	}
	return nil
}

// payable returns an error for a call whose cost a limit would not count, because its price is unknown. A model without
// a name is priced by the name in its reply.
func (r *run) payable(req agent.LLMRequest) error {
	holder := r.costLimited()
	if holder == nil {
		return nil
	}
	name := r.answering(req)
	if len(r.pricers()) > 0 {
		if _, known := r.price(req, agent.LLMResponse{}); known || name == "" {
			return nil
		}
	}
	return holder.unpriced(r, name)
}

// unpriced returns the reason why the run cannot keep its limit on the cost, and stores it for stopUnpriced. The model
// is that of a call of by, which is this run or one that it started.
func (r *run) unpriced(by *run, model string) error {
	err := fmt.Errorf("agent %q: Limits.Cost is %g, and the price of the model %q is unknown; give it a price",
		r.agent.name(), r.limits.Cost, model)
	if len(by.pricers()) == 0 {
		err = fmt.Errorf("agent %q: Limits.Cost is %g, and nothing computes costs; use the hook observe.Cost with Prices, "+
			"or a model that implements agent.Pricer", r.agent.name(), r.limits.Cost)
	}
	for ; by != r.outer; by = by.outer {
		by.unknownCost.change(func(first error) error { return cmp.Or(first, err) })
	}
	return err
}

// stopUnpriced stops the run if a call of it, or of a run that started it, has an unknown price. The run checks this
// after each reply and at the end of each step. It reports whether it stopped the run.
func (r *run) stopUnpriced() bool {
	for holder := r; holder != nil; holder = holder.outer {
		if unknown := holder.unknownCost.get(); unknown != nil && !r.state.over() {
			r.stop(agent.CauseTokenLimit, map[string]any{"maxCost": holder.limits.Cost}, "%v", unknown)
			return true
		}
	}
	return false
}

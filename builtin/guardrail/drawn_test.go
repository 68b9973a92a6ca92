package guardrail_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/generated/agent"
)

// personal draws personal data of one of the kinds that are found.
func personal(r *rand.Rand) string {
	word := func() string {
		letters := make([]byte, 2+r.IntN(8))
		for i := range letters {
			letters[i] = byte('a' + r.IntN(26))
		}
		return string(letters)
	}
	switch r.IntN(4) {
	case 0:
		return word() + "." + word() + "@" + word() + ".org"
	case 1:
		return fmt.Sprintf("%d-%02d-%04d", 100+r.IntN(500), 1+r.IntN(99), 1+r.IntN(9999)) // a social security number
	case 2:
		return fmt.Sprintf("(%d) %d-%04d", 201+r.IntN(700), 200+r.IntN(700), r.IntN(10000)) // a telephone number
	}
	digits, sum := []byte("4"), 0
	for len(digits) < 15 {
		digits = append(digits, byte('0'+r.IntN(10)))
	}
	for i, c := range digits {
		n := int(c - '0')
		if i%2 == 0 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return string(digits) + strconv.Itoa((10-sum%10)%10) // a card number
}

// TestDrawnPersonalDataReachesNoModel puts drawn personal data into each part of the results of tools.
func TestDrawnPersonalDataReachesNoModel(t *testing.T) {
	rand := rand.New(rand.NewPCG(1, 2))
	tried, kept := 0, 0
	for name, put := range map[string]func(data string) (agent.ToolOutput, error){
		"a text": func(data string) (agent.ToolOutput, error) {
			return agent.ToolOutput{Text: "ask " + data + " now"}, nil
		},
		"a line": func(data string) (agent.ToolOutput, error) {
			return agent.ToolOutput{Text: "name;" + data + "\nx"}, nil
		},
		"a warning": func(data string) (agent.ToolOutput, error) { return agent.ToolOutput{Warnings: []string{data}}, nil },
		"an error":  func(data string) (agent.ToolOutput, error) { return agent.ToolOutput{}, errors.New("no " + data) },
		"a value": func(data string) (agent.ToolOutput, error) {
			text, err := json.Marshal(map[string]any{"rows": []any{map[string]any{"a": data}}})
			return agent.ToolOutput{Text: string(text)}, err
		},
		"a name": func(data string) (agent.ToolOutput, error) {
			text, err := json.Marshal(map[string]any{"by": map[string]int{data: 1}})
			return agent.ToolOutput{Text: string(text)}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				data := personal(rand)
				out, failure := put(data)
				got := screened(t, out, failure, guardrail.RedactPersonal())
				if tried++; strings.Contains(fmt.Sprintf("%+v", got), data) {
					t.Errorf("%q is in %+v", data, got)
					continue
				}
				kept++
			}
		})
	}
	t.Attr("tried", strconv.Itoa(tried))
	t.Attr("kept", strconv.Itoa(kept))
}

// TestBlockedWordsAreFoundInDrawnTasks puts a blocked word in drawn case into drawn texts.
func TestBlockedWordsAreFoundInDrawnTasks(t *testing.T) {
	words := strings.Fields("bomb Straße ΣΊΣΥΦΟΣ пароль kelvin ﬁle 密码 İstanbul")
	guard := &guardrail.Input{Block: words}
	rand := rand.New(rand.NewPCG(1, 2))
	const tasks = 2000
	kept := 0
	for range tasks {
		word := []rune(words[rand.IntN(len(words))])
		for i, c := range word {
			switch rand.IntN(3) {
			case 0:
				word[i] = unicode.SimpleFold(c)
			case 1:
				word[i] = unicode.SimpleFold(unicode.SimpleFold(c))
			}
		}
		task := strings.Repeat("x ", rand.IntN(50)) + string(word) + strings.Repeat(" y", rand.IntN(50))
		outcome, err := guard.OnRunStart(t.Context(), agent.NewRun(nil), agent.RunStart{Task: task})
		if err != nil || outcome == nil {
			t.Errorf("%q is not refused: %v", task, err)
			continue
		}
		kept++
	}
	t.Attr("tried", strconv.Itoa(tasks))
	t.Attr("kept", strconv.Itoa(kept))
}

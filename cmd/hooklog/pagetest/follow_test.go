package pagetest

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// followsLiveRun reads one fire while others are written.
func followsLiveRun(t *testing.T, p *tab) {
	for i := range int64(60) {
		p.write(event(i+1, "a", "BeforeSend"))
	}
	p.open()
	p.until(`document.querySelectorAll('.fires .row').length === 60`)
	p.click(".fires > li:nth-child(5) > .row")
	p.until(`document.querySelector('.detail')`)
	p.run(`document.querySelector('main').scrollTop = 100`)
	place := `document.querySelector('.detail').getBoundingClientRect().top`
	before := get[float64](p, place)
	p.write(event(61, "a", "AfterSend", denied), event(62, "a/b", "OnRunStart", below("a")))
	p.until(`document.querySelectorAll('main > :last-child > .fires > li').length === 62`)
	p.want(".fires", "AfterSend\nRefuse", "Run a/b")
	if after := get[float64](p, place); math.Abs(before-after) > 2 {
		t.Errorf("the fire moved from %v to %v", before, after)
	}
	if !get[bool](p, `document.activeElement === document.querySelector('.fires > li:nth-child(5) > .row') &&
		document.querySelectorAll('.detail').length === 1`) {
		t.Error("the reader's place is lost")
	}
	p.until(`document.getElementById('news').innerText.startsWith('2 new fires')`)
	p.want("#list", "62 fires\n1 exit")
	p.want("main .meta", "62 fires")
	p.click("#news")
	p.until(`document.getElementById('news').hidden`)
	p.write(event(63, "a/b", "OnRunEnd", below("a")))
	p.until(`document.querySelectorAll('.fires .fires .row').length === 2`)
}

// listsNewRuns reads the list of runs while others begin.
func listsNewRuns(t *testing.T, p *tab) {
	for i := range int64(40) {
		p.write(event(i+1, fmt.Sprintf("run%d", i), "BeforeSend"))
	}
	p.open()
	p.run(`document.querySelector('nav').scrollTop = 400`)
	place := `document.querySelector('#list li:nth-last-child(20)').getBoundingClientRect().top`
	before := get[float64](p, place)
	p.write(event(41, "fresh", "BeforeSend"), event(42, "fresher", "BeforeSend"))
	p.until(`document.querySelectorAll('#list li').length === 42`)
	if after := get[float64](p, place); math.Abs(before-after) > 2 {
		t.Errorf("the list moved from %v to %v", before, after)
	}
	if got := p.text("#list li:first-child .title"); got != "Run fresher" {
		t.Errorf("the first run is %q", got)
	}
	p.until(`document.getElementById('live').innerText.includes('2 new runs')`)
	var many []hooklog.Event
	for i := range int64(120) {
		many = append(many, event(43+i, fmt.Sprintf("many%d", i), "BeforeSend"))
	}
	p.write(many...)
	p.until(`document.querySelector('#list .title').innerText === 'Run many119'`)
	p.until(`document.getElementById('list-more').hidden || (document.getElementById('list-more').click(), false)`)
	p.until(`document.querySelectorAll('#list li').length === 162`)
	var numbers []int
	for _, title := range strings.Split(p.text("#list .title"), "\n") {
		if number, ok := strings.CutPrefix(title, "Run many"); ok {
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, -n)
		}
	}
	if len(numbers) != 120 || !slices.IsSorted(numbers) {
		t.Errorf("the new runs are %v", numbers)
	}
}

func readsShorterFile(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend"), event(2, "b", "BeforeSend"))
	p.open()
	if err := os.Truncate(p.record, 0); err != nil {
		t.Fatal(err)
	}
	p.until(`!document.getElementById('problems').hidden`)
	p.write(event(1, "c", "BeforeSend"))
	p.until(`document.querySelector('#list').innerText.includes('Run c')`)
	p.want("#problems", "1 remark about the record")
	if got := p.text("#list .title"); got != "Run c" {
		t.Errorf("the runs are %q", got)
	}
}

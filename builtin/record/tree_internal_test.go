package record

import (
	"fmt"
	"strings"
	"testing"
)

func TestOldNodesOfATreeAreDropped(t *testing.T) {
	for most, want := range map[int]string{9: "root>1 1>2 2>3 1>4", 3: "root>2 2>3 root>4", 1: "root>2"} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			tree := ConversationTree{RootID: treeRoot, ActiveID: "2", Nodes: []TreeNode{
				{ID: "1", ParentID: treeRoot}, {ID: "2", ParentID: "1"}, {ID: "3", ParentID: "2"}, {ID: "4", ParentID: "1"},
			}}
			tree.limit(most)
			var nodes []string
			for _, n := range tree.Nodes {
				nodes = append(nodes, n.ParentID+">"+n.ID)
			}
			if got := strings.Join(nodes, " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

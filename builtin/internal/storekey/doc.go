// Package storekey makes the keys under which hooks keep values in a store, so that hooks and owners that share a store
// never meet.
//
// For example, the session of the conversation "history/writer" has the key "session///history%2Fwriter", and the list
// of runs of the agent "writer" has the key "history////writer". Start with [Of].
package storekey

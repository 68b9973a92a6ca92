// Package memory keeps facts, preferences, episodes and notes beyond a run, and puts them into prompts.
//
// A [Store] holds them, the [Injector] shows them to the model, and the [Extractor] finds new ones at the end of a run.
// Conversations are stored by package state; records for people are written by package record. The package imports no
// library.
//
// Start with [Injector] and [OpenFile].
package memory

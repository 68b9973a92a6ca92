// Package filename makes safe file names of any text, for example of the ID of a conversation.
package filename

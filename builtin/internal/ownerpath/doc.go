// Package ownerpath makes paths for the files of an owner: a tenant, a user or a conversation.
//
// For example, the facts of the user ann are in the file facts.json.d/-/ann/-.json. Keys of stores are made by package
// storekey. Start with [Of].
package ownerpath

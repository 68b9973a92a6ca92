// Package queue hands items to a function in the background, in order.
package queue

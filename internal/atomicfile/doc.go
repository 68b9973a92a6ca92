// Package atomicfile writes files whole or not at all, appends whole lines, and makes safe file names of any text.
package atomicfile

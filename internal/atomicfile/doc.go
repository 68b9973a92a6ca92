// Package atomicfile writes files whole or not at all, and appends whole lines.
package atomicfile

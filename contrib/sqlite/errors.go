package sqlite

import (
	"errors"
	"fmt"
	"slices"

	driver "modernc.org/sqlite"
)

// SQLite's result codes, without their extensions.
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// remedies are the texts that follow the errors of SQLite which a person can mend.
var remedies = map[int]string{
	codeReadOnly: "check the permissions of the file and of its directory",
	codeCorrupt:  "the file is damaged; restore a copy, or save its content with the command .recover of sqlite3",
	codeFull:     "the change is not stored; make room on the disk",
	codeCantOpen: "check the permissions of the file, and of the files next to it that end with -wal and -shm",
}

// withRemedy adds to an error of SQLite how to mend it.
func withRemedy(err error) error {
	var e *driver.Error
	if errors.As(err, &e) {
		if remedy := remedies[e.Code()&0xff]; remedy != "" {
			return fmt.Errorf("%w; %s", err, remedy)
		}
	}
	return err
}

func isCode(err error, codes ...int) bool {
	var e *driver.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code()&0xff)
}

package knowledge

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"oxios/kernel/sys"
)

// Each failure that a person may read is made in one place, so that the same
// thing is always said in the same words.

func errGone(dir string, err error) error {
	return sys.Errorf(sys.CodeUnavailable, "The vault folder %s is not there. What Oxios knows of it is kept.", dir).
		WithHint("Connect the drive or put the folder back: it is used again by itself.").WithCause(err)
}

func errEmptied(dir string, notes int) error {
	return sys.Errorf(sys.CodeUnavailable, "The vault folder %s is empty, though it held %d notes. What Oxios knows of them is kept.", dir, notes).
		WithHint("Connect the drive or put the notes back. If you removed them yourself, make a new note, and the old ones are forgotten.")
}

func errState(dir string, err error) error {
	return sys.Errorf(sys.CodeUnavailable, "The folder %s, in which Oxios keeps what belongs to the vault, cannot be used: %w.", dir, err).
		WithHint("Look at its permissions and at the space on the disk.")
}

func errPath(path string) error {
	return sys.Errorf(sys.CodeInvalid, "%q is no path inside the vault.", path).
		WithHint("Name it relative to the vault, with slashes, as in projects/plan.md.")
}

func errHidden(path string) error {
	return sys.Errorf(sys.CodeForbidden, "%s is hidden, and Oxios leaves hidden files and folders alone.", path).
		WithHint("Choose a name that does not begin with a dot.")
}

func errEscapes(path string) error {
	return sys.Errorf(sys.CodeForbidden, "%s leads out of the vault through a symbolic link, so it was not opened.", path).
		WithHint("Copy the file itself into the vault.")
}

func errNoNote(path string) error {
	return sys.Errorf(sys.CodeNotFound, "There is no note %s.", path).
		WithHint("Look for it in the list of notes: it may have been moved or renamed.")
}

func errIsFolder(path string) error {
	return sys.Errorf(sys.CodeInvalid, "%s is a folder. Nothing was changed.", path).
		WithHint("Name a note inside it.")
}

func errName(name string, why sys.Words) error {
	return sys.Errorf(sys.CodeInvalid, "%q cannot be the name of a note or folder: %s. Nothing was changed.", name, why).
		WithHint("Leave out < > : \" | ? * # ^ [ ] and backslashes, dots and spaces at the end, and names such as CON: the note can then be opened and linked on every computer.")
}

func errExists(path string) error {
	return sys.Errorf(sys.CodeConflict, "%s is there already. Nothing was changed.", path).
		WithHint("Choose another name, or open the one that is there.")
}

func errChanged(path string) error {
	return sys.Errorf(sys.CodeConflict, "%s was changed by somebody else in the meantime. It stays as it is, and nothing of yours was written.", path).
		WithHint("Read it again and put your change into it, or save yours under another name.")
}

func errRemoved(path string) error {
	return sys.Errorf(sys.CodeConflict, "%s is not there any more: somebody else removed or moved it. Nothing was written.", path).
		WithHint("Save your text as a new note, or look where the note went.")
}

func errEncoding(path, encoding string) error {
	return sys.Errorf(sys.CodeInvalid, "%s is written in %s, which Oxios shows but does not change. Nothing was changed.", path, encoding).
		WithHint("Save it as UTF-8 in the program that wrote it.")
}

func errLarge(path string, size int64) error {
	return sys.Errorf(sys.CodeTooLarge, "%s has %d MB; a note over %d MB is neither read nor searched. It stays as it is, and everything else goes on.", path, size/mega, maxNote/mega).
		WithHint("Split it, or open it in another program.")
}

func errTextLarge(path string, size int) error {
	return sys.Errorf(sys.CodeTooLarge, "The text for %s has %d MB; a note may have %d MB. Nothing was changed.", path, size/mega, maxNote/mega).
		WithHint("Split it into several notes.")
}

func errText(path string) error {
	return sys.Errorf(sys.CodeInvalid, "The text for %s is no valid UTF-8. Nothing was changed.", path).
		WithHint("Send it as UTF-8 text.")
}

func errTask(path string, line int) error {
	return sys.Errorf(sys.CodeConflict, "Line %d of %s holds no task. Nothing was changed.", line, path).
		WithHint("Read the note again: its lines may have moved.")
}

func errNoText() error {
	return sys.Errorf(sys.CodeInvalid, "There is no text to add. Nothing was changed.").
		WithHint("Write at least one word.")
}

func errInside(path string) error {
	return sys.Errorf(sys.CodeInvalid, "%s cannot be moved into itself. Nothing was changed.", path).
		WithHint("Choose a folder outside it.")
}

func errFormat(format string) error {
	return sys.Errorf(sys.CodeInvalid, "%q is no format for the names of journal notes.", format).
		WithHint("Use YYYY, MM and DD, as in YYYY-MM-DD.")
}

func errImport(dir string, err error) error {
	return sys.Errorf(sys.CodeInvalid, "The folder %s cannot be taken over: %w. Nothing was copied.", dir, err).
		WithHint("Name a folder outside the vault that Oxios may read.")
}

func errTrash(err error) error {
	return sys.Errorf(codeOf(err), "The trash of the vault cannot be used: %w. Nothing was changed.", err).
		WithHint("Look at the permissions of trash/ in the home, and at the space on the disk.")
}

func errNoTrash() error {
	return sys.Errorf(sys.CodeNotFound, "That file is not in the trash any more. Nothing was changed.").
		WithHint("Look at the trash again: it may have been restored or deleted for good.")
}

func errMention(path string, line int) error {
	return sys.Errorf(sys.CodeConflict, "Line %d of %s does not name the note any more. Nothing was changed.", line, path).
		WithHint("Look at the mentions again: the lines may have moved.")
}

func errRead(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errNoNote(path)
	case isEscape(err):
		return errEscapes(path)
	}
	return sys.Errorf(sys.CodeUnavailable, "%s could not be read: %w. It stays as it is.", path, err).
		WithHint("Look at its permissions, and at the disk.")
}

func errWrite(path string, err error) error {
	if isEscape(err) {
		return errEscapes(path)
	}
	return sys.Errorf(codeOf(err), "%s could not be written: %w. Nothing was changed.", path, err).
		WithHint("Free some space, or look at the permissions of the vault.")
}

func errCutOff(err error) error {
	return sys.Errorf(codeOf(err), "A change of several files was cut off by the disk and could not be taken back at once: %w. It is written down and will be finished.", err).
		WithHint("Free some space, or look at the permissions of the vault, and start Oxios again.")
}

func codeOf(err error) sys.Code {
	if errors.Is(err, syscall.ENOSPC) {
		return sys.CodeDiskFull
	}
	return sys.CodeUnavailable
}

// isEscape reports whether [os.Root] refused a path because it leads out. The
// package os has no name for that error.
func isEscape(err error) bool {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error() == "path escapes from parent"
	}
	var link *os.LinkError
	return errors.As(err, &link) && link.Err.Error() == "path escapes from parent"
}

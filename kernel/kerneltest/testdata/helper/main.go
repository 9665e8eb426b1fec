// Command helper is the part of the oxios binary that the kernel starts beside
// itself: it runs commands contained, and reads documents.
package main

import (
	"oxios/kernel/document"
	"oxios/kernel/sandbox"
)

func main() {
	if !sandbox.Main() && !document.Main() {
		panic("this program is started by the kernel alone")
	}
}

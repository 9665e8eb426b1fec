// Command helper is the part of the oxios binary that the kernel starts beside
// itself: it runs commands contained, reads documents, and runs modules.
package main

import (
	"oxios/kernel/document"
	"oxios/kernel/sandbox"
	"oxios/kernel/wasm"
)

func main() {
	if !sandbox.Main() && !document.Main() && !wasm.Main() {
		panic("this program is started by the kernel alone")
	}
}

// Command reader is what the kernel starts to have a document read.
package main

import "oxios/kernel/document"

func main() {
	if !document.Main() {
		panic("this program is started by the kernel alone")
	}
}

// Package wasmtest writes small WebAssembly modules for tests, so that none needs a compiler for them.
//
// It knows as much of the binary format (https://webassembly.github.io/spec/core/binary/) and of WASI preview 1 as those need.
package wasmtest

import "slices"

// The functions of WASI that the modules call, by their place among the imports.
const (
	fdRead = iota
	fdWrite
	pathOpen
	procExit
	imported
)

const i32, i64 = 0x7F, 0x7E

// Instructions.
var (
	loopForever = []byte{0x03, 0x40, 0x0C, 0x00, 0x0B} // loop: br 0
	drop        = []byte{0x1A}
	load32      = []byte{0x28, 0x02, 0x00}
)

func num(op byte, n int64) []byte { return append([]byte{op}, signed(n)...) }
func i32s(ns ...int64) (out []byte) {
	for _, n := range ns {
		out = append(out, num(0x41, n)...)
	}
	return out
}
func call(f byte) []byte         { return []byte{0x10, f} }
func seq(parts ...[]byte) []byte { return slices.Concat(parts...) }
func store32(at, n int64) []byte { return seq(i32s(at, n), []byte{0x36, 0x02, 0x00}) }
func storeLoaded(at, from int64) []byte {
	return seq(i32s(at), i32s(from), load32, []byte{0x36, 0x02, 0x00})
}

// Where the modules keep things in their memory.
const (
	iov    = 0     // a buffer: its address and its length
	count  = 16    // how many bytes were read or written
	opened = 24    // the file that was opened
	text   = 1024  // what is said
	buffer = 65536 // what is read
)

// Echo answers what it reads, up to 1 MB.
func Echo() []byte {
	return module(20, nil, seq(
		store32(iov, buffer), store32(iov+4, 1<<20),
		i32s(0, iov, 1, count), call(fdRead), drop,
		storeLoaded(iov+4, count),
		i32s(1, iov, 1, count), call(fdWrite), drop,
	))
}

// Says writes text, n times.
func Says(s string, n int64) []byte {
	write := seq(store32(iov, text), store32(iov+4, int64(len(s))), i32s(1, iov, 1, count), call(fdWrite), drop)
	// A local counts down: block, loop, leave at 0.
	body := seq(num(0x41, n), []byte{0x21, 0x00, 0x02, 0x40, 0x03, 0x40, 0x20, 0x00, 0x45, 0x0D, 0x01}, write,
		[]byte{0x20, 0x00, 0x41, 0x01, 0x6B, 0x21, 0x00, 0x0C, 0x00, 0x0B, 0x0B})
	return module(2, []byte(s), body)
}

// Loops never ends.
func Loops() []byte { return module(1, nil, loopForever) }

// Fails says why on stderr and ends with a code.
func Fails(why string, code int64) []byte {
	return module(2, []byte(why), seq(store32(iov, text), store32(iov+4, int64(len(why))),
		i32s(2, iov, 1, count), call(fdWrite), drop, i32s(code), call(procExit)))
}

// Reads opens the file at a path of its folder and answers what it holds, up to 64 KiB, or ends with the code of the error.
// With flags 9 (create and truncate) it opens it for writing.
func Reads(path string, flags int64) []byte {
	rights := num(0x42, 2) // fd_read
	if flags != 0 {
		rights = num(0x42, 2|64)
	}
	return module(4, []byte(path), seq(
		i32s(3, 1, text, int64(len(path)), flags), rights, num(0x42, 0), i32s(0, opened), call(pathOpen),
		[]byte{0x22, 0x00, 0x04, 0x40, 0x20, 0x00}, call(procExit), []byte{0x0B}, // not 0: end with it
		store32(iov, buffer), store32(iov+4, 1<<16),
		i32s(opened), load32, i32s(iov, 1, count), call(fdRead), drop,
		storeLoaded(iov+4, count),
		i32s(1, iov, 1, count), call(fdWrite), drop,
	))
}

// Grows asks for more and more memory and answers with the number of pages of 64 KiB that it got, below 10,000.
func Grows() []byte {
	digit := func(at, by int64) []byte {
		return seq(i32s(text+at), []byte{0x3F, 0x00}, i32s(by), []byte{0x6E}, i32s(10), []byte{0x70}, i32s('0'), []byte{0x6A, 0x3A, 0x00, 0x00})
	}
	return module(1, []byte("1"), seq(
		[]byte{0x03, 0x40}, i32s(1), []byte{0x40, 0x00}, i32s(-1), []byte{0x47, 0x0D, 0x00, 0x0B}, // again while it grew
		digit(1, 1000), digit(2, 100), digit(3, 10), digit(4, 1),
		store32(iov, text), store32(iov+4, 5), i32s(1, iov, 1, count), call(fdWrite), drop,
	))
}

// Large asks for that many pages of 64 KiB to begin with.
func Large(pages int64) []byte { return module(pages, nil, nil) }

// Imports needs a function that no module gets.
func Imports(from, name string) []byte {
	return binary([][]byte{{0x60, 0, 0}}, [][]byte{seq(word(from), word(name), []byte{0, 0})}, 0, 1, nil, nil)
}

// module has the functions of WASI, memory, what is said at its place, and one function that begins.
func module(pages int64, said, body []byte) []byte {
	const from = "wasi_snapshot_preview1"
	types := [][]byte{
		{0x60, 4, i32, i32, i32, i32, 1, i32},                          // fd_read, fd_write
		{0x60, 9, i32, i32, i32, i32, i32, i64, i64, i32, i32, 1, i32}, // path_open
		{0x60, 1, i32, 0}, // proc_exit
		{0x60, 0, 0},      // _start
	}
	imports := [][]byte{
		seq(word(from), word("fd_read"), []byte{0, 0}), seq(word(from), word("fd_write"), []byte{0, 0}),
		seq(word(from), word("path_open"), []byte{0, 1}), seq(word(from), word("proc_exit"), []byte{0, 2}),
	}
	return binary(types, imports, 3, pages, said, body)
}

func binary(types, imports [][]byte, start byte, pages int64, said, body []byte) []byte {
	function := byte(len(imports))
	code := seq([]byte{1, 1, i32}, body, []byte{0x0B})
	out := seq([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, list(types)), section(2, list(imports)), section(3, []byte{1, start}),
		section(5, seq([]byte{1, 0}, unsigned(pages))),
		section(7, list([][]byte{seq(word("_start"), []byte{0, function}), seq(word("memory"), []byte{2, 0})})),
		section(10, list([][]byte{seq(unsigned(int64(len(code))), code)})))
	if said == nil {
		return out
	}
	return seq(out, section(11, list([][]byte{seq([]byte{0}, i32s(text), []byte{0x0B}, word(string(said)))})))
}

func section(id byte, body []byte) []byte { return seq([]byte{id}, unsigned(int64(len(body))), body) }

func list(items [][]byte) []byte { return seq(unsigned(int64(len(items))), slices.Concat(items...)) }
func word(s string) []byte       { return seq(unsigned(int64(len(s))), []byte(s)) }

// unsigned and signed are numbers in LEB128.
func unsigned(n int64) (out []byte) {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

func signed(n int64) (out []byte) {
	for {
		b := byte(n) & 0x7F
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

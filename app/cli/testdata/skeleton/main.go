// Skeleton is the control of the start: the least that a program with these
// libraries can be. It opens a database of 10,000 rows, asks it one full-text
// question, listens, and says that it is ready.
package main

import (
	"database/sql"
	"fmt"
	"net"
	"os"

	_ "modernc.org/sqlite"
)

func main() {
	db, err := sql.Open("sqlite", "file:"+os.Args[1]+"?_pragma=journal_mode(WAL)")
	check(err)
	if len(os.Args) > 2 { // make the database
		_, err = db.Exec("CREATE VIRTUAL TABLE notes USING fts5(text)")
		check(err)
		tx, err := db.Begin()
		check(err)
		for i := range 10_000 {
			_, err = tx.Exec("INSERT INTO notes VALUES (?)", fmt.Sprintf("note %d about the ferry, the receipts and the garden", i))
			check(err)
		}
		check(tx.Commit())
		check(db.Close())
		return
	}
	var n int
	check(db.QueryRow("SELECT count(*) FROM notes WHERE notes MATCH 'note AND 4711'").Scan(&n))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println("ready", ln.Addr())
	select {}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

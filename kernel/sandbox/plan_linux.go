package sandbox

// plan is what the helper is told, as JSON over its lifeline.
type plan struct {
	Path      string
	Argv, Env []string
	Dir       string
	Temp      string // removed by the helper when the kernel is gone
	Level     int
	ABI       int // use no newer Landlock than this; 0 for what the host has
	Network   bool
	Door      int // at level 2 the only port that it may connect to; 0: it may connect anywhere
	Rules     []rule
	Kernel    int // the kernel's process
	MaxMemory int64
	MaxProcs  int
	MaxDisk   int64 // of a single file
	Room      bool  // the helper stands in a room, which is to be made ready

	// At level 3 the helper gets two plans: one with the walls, and when these
	// stand, the other behind them gets the command.
	Bwrap  string     // the program that builds them
	Walls  []string   // its options
	Same   []identity // what has to lie at the granted paths then
	Copies []layer    // mounted before they are built
	Hole   bool       // carry to the kernel's proxy
	Reach  []int      // carry these ports to those of this computer
	Serve  []int      // offer these ports to this computer

	Input bool // there is something to read, for both plans
}

// access is what a rule grants on a path and what lies below it.
type access string

const (
	accessList   access = "list"   // list folders
	accessRead   access = "read"   // read and execute
	accessWrite  access = "write"  // all but device files
	accessDevice access = "device" // read, write and control a device file
)

// rule grants access to one path. A strict one fails if the path is gone or
// has become a symlink since it was checked; others are left out when missing.
type rule struct {
	Path   string
	Access access
	Strict bool
}

// order is what the kernel says to the helper after the plan.
type order struct {
	End bool // end the tree
	Now bool // without asking it
}

// notice is what the helper says to the kernel: first that the command runs or
// why not, then how it ended.
type notice struct {
	Ready   bool   // the walls stand
	PID     int    // the command runs; at level 3, as it is called behind the walls
	Failure string // why it could not be started: "confine" or "start"
	Message string
	Errno   int

	Ended        bool // the tree is gone
	Code         int
	Signal       int
	OutOfMemory  bool
	TooManyProcs bool
}

// The descriptors that the helper inherits.
const (
	fdOrders  = 3
	fdNotices = 4
	fdStdout  = 5
	fdStderr  = 6
	fdInput   = 7 // only where there is some
	fdWalls   = 8 // what bubblewrap reads its options from
)

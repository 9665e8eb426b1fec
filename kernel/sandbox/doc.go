// Package sandbox runs commands under the strongest isolation that the host
// really offers, and says which one that was.
//
// It promises:
//
//   - A command never runs less contained than its [Result] says. A level that
//     cannot be applied is an error; nothing is dropped silently.
//   - The level is measured, not assumed: [Runner.Probe] sends escape attempts
//     through the real helper, and each of them has to fail.
//   - When a command is over, all of it is over. setsid, double forks and
//     processes that ignore SIGTERM are gone within 5 seconds, also when the
//     kernel itself is killed.
//   - Nothing in a command can ask a person at a terminal: stdin is empty and
//     there is no controlling terminal.
//
// # How a command runs on Linux
//
// The kernel starts a helper, the static oxios binary with the hidden word
// "@sandbox", in a session of its own. The helper is the subreaper of its tree,
// so every descendant stays below it, whatever the descendant does. One thread
// of the helper limits itself (capabilities, Landlock, seccomp), forks the
// command and ends; limits are per thread, so the helper stays outside of them
// and the command cannot signal it. A pipe from the kernel carries the
// specification and is the helper's lifeline: when it closes, the tree is
// ended. (The parent-death signal is not used: it is bound to the thread that
// forked, and Go ends threads.)
//
// # Level 3
//
// The helper has bubblewrap build walls: namespaces of their own for files,
// processes, network, users, messages and names, and in them the view of
// mounts_linux.go. The first process behind the walls is a second helper, which
// does there what the helper does at level 2, Landlock and seccomp included, and
// speaks with the kernel over the same pipes. When it ends, Linux ends all
// others behind the walls; when bubblewrap or the first helper is ended, it is.
// (Here the parent-death signal is used: the thread that forks bubblewrap lives
// as long as its process.)
//
// Only what is granted exists: the system folders, the folders of PATH and what
// was granted by name. The command writes its folder, a /tmp and a /dev/shm that
// are parts of its temporary folder, and its cache. Nothing lies over what is
// hidden. Over the hooks and settings of repositories and the start files of
// shells lies their read-only selves, and what is above them inside a writable
// folder is a mount point, which cannot be moved away (guarded_linux.go).
//
// The network is a loopback of its own. Where [Spec.Hole] is set, the second
// helper listens on 127.0.0.1:3128 and carries what comes to a socket that the
// kernel answers; the variables for proxies lead there. Ports of [Spec.Reach] it
// carries to it in the same way, and for those of [Spec.Serve] it keeps a
// connection there, which becomes that of whoever on this computer wants to be
// served (ports_linux.go). The command itself makes no unix socket.
//
// Building walls takes longer than most commands. So those of the last command
// are built ahead for the next one, which gets them if its view is the very
// same: the same mounts of the same files.
//
// What level 3 does not do:
//
//   - A file that is guarded and that somebody outside replaces while the command
//     runs is not guarded any more until the next command.
//   - What a command makes is its own: a repository, a file that leads git to
//     one. [Runner.Survey] finds these, and the caller looks at them.
//   - A server that a command runs is reached by nobody outside of it.
//   - Run by root, files of other users cannot be touched: the user namespace
//     knows one user.
//
// # Caches
//
// Each folder has a cache of its own (see [Cache]): what one agent puts there, code
// among it, is not found by the commands of another folder.
//
// # Limits
//
// Where Oxios may make cgroups of the second version, each command with its
// helpers is in one of its own from its start on (clone3, so that nothing gets
// out in between). Linux then holds its memory, together with its files in
// memory, ends all of it when it needs more, and starts no more threads than four
// for each process that it may have. What is left of a command is ended with its
// group, also at level 0. Elsewhere resident memory is watched, 20 times a
// second; processes are counted so in either case. [Report.Watched] tells which.
//
// A group needs a place that was handed over (seat_linux.go): the root of all
// cgroups, a container's, a service with Delegate=, or a scope for which a
// person's or the machine's systemd is asked. There the kernel moves with what it
// started into the leaf "oxios.kernel". Cgroups with strangers in them are left
// alone, and so are services that were not handed over.
//
// The free space of the disks that a command writes is watched from here (see
// [Spec.MaxDisk]). No command changes limits and priorities of others than the
// caller: thread ids name the helper and the kernel too.
//
// A cgroup is no wall: at levels 1 and 0 root, and whoever reaches systemd, can
// have a process moved out of it.
//
// # What level 2 does and does not do
//
// A command reads the system folders, the folders of PATH and what it was
// granted; it writes its folder, a private temporary folder and the cache. It
// opens no unix socket, and no inet socket unless the network was granted.
//
// Landlock only adds rights to folders, it cannot take a part away again. So:
//
//   - A granted folder that holds a hidden one is granted child by child. The
//     command can then neither list that folder nor make new entries directly
//     in it, nor in the folders between it and the hidden one.
//   - .git/hooks and other files inside the command's own folder which a person
//     runs later are writable. Checkpoints and review cover them, not this
//     package.
//   - The existence, size and mode of a file outside can be asked for by its
//     name.
//   - /dev/shm is shared with the account's other programs.
//   - A repository whose .git lies above the command's folder has to be granted.
//
// Where the system lets it, the helper stands in a room: process and mount
// namespaces of its own, whose first process it is. When it ends, whoever ended
// it, all that it started ends; and what the command may not write is mounted
// read-only. Where there can be no room (whether there can is tried once):
//
//   - Files that the account owns can be chmod'ed, and so can the system's by root.
//   - The command lines of other processes can be read, their environment cannot.
//   - What has left its session outlives Oxios where the helper is killed together
//     with the kernel.
//   - Signals to outside processes are stopped from Landlock ABI 6 on. Below
//     it, only the helper and the kernel are protected.
//
// On other systems the level is 0: policy only.
package sandbox

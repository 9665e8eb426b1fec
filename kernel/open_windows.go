package kernel

// nonBlocking is nothing that this system needs.
const nonBlocking = 0

package sys

// openNonblock is nothing that this system needs.
const openNonblock = 0

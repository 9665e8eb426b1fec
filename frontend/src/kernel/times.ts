/**
 * earlier compares two moments as the kernel writes them (RFC 3339), for sort: the older one comes first, one that is
 * not there before all. As text they do not compare: the kernel leaves out the zeros that end a fraction, and
 * "05.12Z" stands behind "05.123Z".
 */
export const earlier = (a = '', b = ''): number => (Date.parse(a) || 0) - (Date.parse(b) || 0);

/** later compares them the other way round: the newest comes first. */
export const later = (a = '', b = ''): number => earlier(b, a);

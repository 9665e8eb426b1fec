/** A day of one person, and what its things are made with. */
export * from './make';
export * from './world';

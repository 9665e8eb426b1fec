/** __FAKE__ is true where the scripted kernel is part of the build. */
declare const __FAKE__: boolean;
